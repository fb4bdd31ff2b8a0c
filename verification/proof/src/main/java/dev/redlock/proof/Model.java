package dev.redlock.proof;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A transition system with an invariant, and the obligations that prove the invariant. Formulas are
 * text in SMT-LIB, so that what the solver reads is what stands in the source.
 *
 * <p>A variable has the sort that its name says: a, b, c are acquisitions, n, m nodes, p, q
 * quorums; other names are real numbers. The state after an action is a second set of symbols:
 * {@code vote+} is {@code vote} afterwards. Each is defined by a formula over the state before, so
 * nothing needs a frame axiom, and what an action does not mention stays as it is.
 */
final class Model {
  /** One step: if the guards hold, the state may change in this way. */
  static final class Action {
    final String name;
    private final Map<String, Symbol> parameters = new LinkedHashMap<>();
    private final Map<String, String> guards = new LinkedHashMap<>();
    private final Map<String, Update> updates = new LinkedHashMap<>();

    private Action(String name) {
      this.name = name;
    }

    /** A parameter that is a function of these variables. */
    Action chooses(String parameter, String variables, String sort) {
      parameters.put(parameter, new Symbol(parameter, variables, sort));
      return this;
    }

    Action guard(String says, String formula) {
      guards.put(says, formula);
      return this;
    }

    /** The symbol's value for these variables afterwards. */
    Action set(String symbol, String variables, String value) {
      if (updates.put(symbol, new Update(variables, value)) != null) {
        throw new IllegalArgumentException(name + " sets " + symbol + " twice");
      }
      return this;
    }

    /** Replaces a value, for controls. */
    void change(String symbol, String variables, String value) {
      updates.remove(symbol);
      set(symbol, variables, value);
    }
  }

  /** Must be unsatisfiable: a counterexample to one clause after one step, or at the beginning. */
  record Obligation(String action, String clause, String script) {
    @Override
    public String toString() {
      return action + ": " + clause;
    }
  }

  private record Symbol(String name, String variables, String sort) {}

  private record Update(String variables, String value) {}

  private record Definition(String variables, String formula) {}

  private static final Pattern WORD = Pattern.compile("[a-zA-Z][\\w-]*");

  private final List<String> theorems;
  private final List<Symbol> constants = new ArrayList<>();
  private final List<Symbol> state = new ArrayList<>();
  private final Map<String, String> assumptions = new LinkedHashMap<>();
  private final Map<String, Definition> definitions = new LinkedHashMap<>();
  private final List<String> beginning = new ArrayList<>();
  private final Map<String, Action> actions = new LinkedHashMap<>();
  private final Map<String, String> clauses = new LinkedHashMap<>();

  /** The clauses of these names are what is to be proved; the others serve to prove them. */
  Model(String... theorems) {
    this.theorems = List.of(theorems);
  }

  // What it is made of.

  Model constant(String name, String variables, String sort) {
    constants.add(new Symbol(name, variables, sort));
    return this;
  }

  Model assume(String says, String variables, String formula) {
    assumptions.put(says, all(variables, formula));
    return this;
  }

  Model state(String name, String variables, String sort) {
    state.add(new Symbol(name, variables, sort));
    return this;
  }

  /** A name for a formula over the state. */
  Model define(String name, String variables, String formula) {
    definitions.put(name, new Definition(variables, formula));
    return this;
  }

  Model begins(String variables, String formula) {
    beginning.add(all(variables, formula));
    return this;
  }

  /** The action of this name; a new one with these parameters if there is none. */
  Action action(String name, String parameters) {
    Action action = actions.computeIfAbsent(name, Action::new);
    for (String parameter : words(parameters)) {
      action.chooses(parameter, "", sortOf(parameter));
    }
    return action;
  }

  Model clause(String name, String variables, String formula) {
    clauses.put(name, all(variables, formula));
    return this;
  }

  // What is left out, for controls.

  Model withoutAssumption(String says) {
    return removed(assumptions.remove(says), says);
  }

  Model withoutClause(String name) {
    return removed(clauses.remove(name), name);
  }

  Model withoutGuard(String action, String says) {
    return removed(actions.get(action).guards.remove(says), says);
  }

  private Model removed(@Nullable String formula, String name) {
    if (formula == null) {
      throw new IllegalArgumentException("there is no " + name);
    }
    return this;
  }

  List<String> assumptions() {
    return List.copyOf(assumptions.keySet());
  }

  List<String> clauses() {
    return List.copyOf(clauses.keySet());
  }

  List<String> theorems() {
    return theorems;
  }

  List<String> actions() {
    return List.copyOf(actions.keySet());
  }

  List<String> guards(String action) {
    return List.copyOf(actions.get(action).guards.keySet());
  }

  // What is to be proved.

  /** Each clause holds at the beginning, and after each action if all clauses held before it. */
  List<Obligation> obligations() {
    List<Obligation> obligations = new ArrayList<>();
    for (String clause : clauses.keySet()) {
      obligations.add(new Obligation("beginning", clause, atBeginning(clause)));
    }
    for (Action action : actions.values()) {
      for (String clause : clauses.keySet()) {
        obligations.add(new Obligation(action.name, clause, afterStep(action, clause)));
      }
    }
    return obligations;
  }

  /** Must be satisfiable: a state of the invariant in which the action can happen. */
  String possible(String action) {
    return before(actions.get(action));
  }

  private String atBeginning(String clause) {
    Script script = new Script();
    head(script);
    beginning.forEach(script::assertThat);
    script.assertThat("(not " + clauses.get(clause) + ")");
    return script.toString();
  }

  private String afterStep(Action action, String clause) {
    Script script = new Script();
    script.add(before(action));
    for (Symbol symbol : state) {
      Update update = action.updates.get(symbol.name);
      if (update == null) {
        String same = call(symbol.name, symbol.variables);
        script.define(symbol.name + "+", symbol.variables, symbol.sort, same);
      } else {
        script.define(symbol.name + "+", update.variables, symbol.sort, update.value);
      }
    }
    definitions.forEach(
        (name, d) -> script.define(name + "+", d.variables, "Bool", afterwards(d.formula)));
    script.assertThat("(not " + afterwards(clauses.get(clause)) + ")");
    return script.toString();
  }

  private String before(Action action) {
    Script script = new Script();
    head(script);
    clauses.values().forEach(script::assertThat);
    action.parameters.values().forEach(script::declare);
    action.guards.values().forEach(script::assertThat);
    return script.toString();
  }

  private void head(Script script) {
    script.add("(declare-sort Node 0)(declare-sort Acq 0)(declare-sort Quorum 0)\n");
    script.add("(declare-datatypes ((Stage 0)) (((idle) (asking) (held) (ended) (undone))))\n");
    constants.forEach(script::declare);
    state.forEach(script::declare);
    definitions.forEach((name, d) -> script.define(name, d.variables, "Bool", d.formula));
    assumptions.values().forEach(script::assertThat);
  }

  /** The formula about the state after a step. */
  private String afterwards(String formula) {
    TreeSet<String> changing = new TreeSet<>(definitions.keySet());
    state.forEach(symbol -> changing.add(symbol.name));
    return WORD.matcher(formula)
        .replaceAll(
            word ->
                Matcher.quoteReplacement(
                    changing.contains(word.group()) ? word.group() + "+" : word.group()));
  }

  // Text.

  static String all(String variables, String formula) {
    return variables.isEmpty() ? formula : "(forall (" + typed(variables) + ") " + formula + ")";
  }

  private static String call(String name, String variables) {
    return variables.isEmpty() ? name : "(" + name + " " + variables + ")";
  }

  private static String typed(String variables) {
    StringJoiner typed = new StringJoiner(" ");
    for (String variable : words(variables)) {
      typed.add("(" + variable + " " + sortOf(variable) + ")");
    }
    return typed.toString();
  }

  private static String sorts(String variables) {
    StringJoiner sorts = new StringJoiner(" ");
    words(variables).forEach(variable -> sorts.add(sortOf(variable)));
    return sorts.toString();
  }

  private static String sortOf(String variable) {
    return switch (variable) {
      case "a", "b", "c" -> "Acq";
      case "n", "m" -> "Node";
      case "p", "q" -> "Quorum";
      default -> "Real";
    };
  }

  private static List<String> words(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(" "));
  }

  /** Commands of SMT-LIB. */
  private static final class Script {
    private final StringBuilder text = new StringBuilder();

    void add(String commands) {
      text.append(commands);
    }

    void declare(Symbol s) {
      text.append("(declare-fun %s (%s) %s)\n".formatted(s.name, sorts(s.variables), s.sort));
    }

    void define(String name, String variables, String sort, String value) {
      text.append("(define-fun %s (%s) %s %s)\n".formatted(name, typed(variables), sort, value));
    }

    void assertThat(String formula) {
      text.append("(assert ").append(formula).append(")\n");
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
