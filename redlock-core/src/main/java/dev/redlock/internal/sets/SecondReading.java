package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether a majority stores a proposal at one moment.
 *
 * <p>The naive way counts what each node said last. That fails in this history: two proposals are
 * on two nodes and on one, and a record is written to all three from the first. A client that read
 * the third node before that finds one of the two others empty, because it has restarted, copies
 * the second proposal there, and counts it with what the third node said long ago. So those that
 * store a proposal are told it again, once a majority has shown it. Those that then show it by the
 * same connection stored it all the time between, and so all at the moment when the first was asked
 * again.
 */
final class SecondReading {
  private static final class Question {
    private final Tell tell;
    private final long connection;
    private boolean answered;

    private Question(Tell tell, long connection) {
      this.tell = tell;
      this.connection = connection;
    }

    // Not by equals of Tell: to link that of a record makes the start longer.
    private boolean asks(Tell other) {
      return tell.node() == other.node()
          && tell.change().record().id().equals(other.change().record().id());
    }
  }

  private final List<Question> questions = new ArrayList<>();

  /**
   * What to ask.
   *
   * @param holders the proposal for each node that showed it last
   * @return nothing once a majority has shown it again
   */
  List<Tell> of(List<Tell> holders, List<Seen> nodes, int majority) {
    questions.removeIf(
        question ->
            holders.stream().noneMatch(question::asks)
                || question.connection != nodes.get(question.tell.node()).status().connection());
    if (questions.size() < holders.size()) {
      questions.clear();
      for (Tell tell : holders) {
        questions.add(new Question(tell, nodes.get(tell.node()).status().connection()));
      }
    }
    List<Tell> open = questions.stream().filter(one -> !one.answered).map(one -> one.tell).toList();
    return questions.size() - open.size() < majority ? open : List.of();
  }

  /**
   * Whether this is the answer to a question, or to one that was replaced before: then the next may
   * be sent.
   */
  @SuppressWarnings("ReferenceEquality") // An equal one may have been sent before the question.
  boolean answered(Tell tell, NodeRecord record) {
    boolean shown = record.isProposal() && record.id().equals(tell.change().record().id());
    for (Question question : questions) {
      if (shown && question.asks(tell)) {
        question.answered |= question.tell == tell;
        return true;
      }
    }
    return false;
  }
}
