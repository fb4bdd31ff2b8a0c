package dev.redlock.exhaustive;

/** What can be wrong with a node or a client, to see that the search finds it. */
enum Flaw {
  /** {@code >=} where the token must lie above the fence. */
  SAME_TOKEN_GRANTED,
  /** A repeat is told by the lease id alone, although the token is another. */
  REPEAT_IGNORES_TOKEN,
  /** A roll-back puts the fence back to what it was before the last grant, whoever's that was. */
  ROLL_BACK_RESTORES_FENCE,
  /** A roll-back deletes the fence with the key. */
  ROLL_BACK_DELETES_FENCE,
  /** An extension writes its token over a higher fence. */
  EXTEND_SETS_FENCE,
  /** A release writes its token over a higher fence. */
  RELEASE_SETS_FENCE,
  /** A release deletes the key and nothing else. */
  RELEASE_RAISES_NOTHING,
  /** What has never been a lease is noted as one that has ended. */
  ROLL_BACK_RAISES_ENDED,
  /** A hand-off notes the token of the successor as ended instead of the predecessor's. */
  HAND_OFF_ENDS_ITSELF,
  /** An extension sets the key again although the lease, or a later one, has ended. */
  REPAIR_IGNORES_ENDED,
  /** The client adds the grants of the round before to those of this one; the last token counts. */
  GRANTS_ADDED_UP,
  /** The same, and the first token counts. */
  GRANTS_ADDED_UP_FIRST_TOKEN
}
