package dev.redlock.exhaustive;

/** A flaw of a node or of a client that the search must find. */
enum Flaw {
  /** A token equal to the fence is granted. */
  SAME_TOKEN_GRANTED,
  /** A repeat is recognized by the lease id alone, although the token differs. */
  REPEAT_IGNORES_TOKEN,
  /** A roll-back resets the fence to its value before the last grant of any client. */
  ROLL_BACK_RESTORES_FENCE,
  /** A roll-back deletes the fence with the key. */
  ROLL_BACK_DELETES_FENCE,
  /** An extension writes its token over a higher fence. */
  EXTEND_SETS_FENCE,
  /** A release writes its token over a higher fence. */
  RELEASE_SETS_FENCE,
  /** A release deletes the key and raises neither the fence nor {@code ended}. */
  RELEASE_RAISES_NOTHING,
  /** A roll-back records its token as an ended lease. */
  ROLL_BACK_RAISES_ENDED,
  /** An extension sets the key again although the lease, or a later one, has ended. */
  REPAIR_IGNORES_ENDED,
  /** The client adds the grants of the round before to those of this one; the last token counts. */
  GRANTS_ADDED_UP,
  /** The same, and the first token counts. */
  GRANTS_ADDED_UP_FIRST_TOKEN
}
