package dev.redlock.spring;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The expressions of one {@link Locked}. Parsed and checked at start, evaluated in each call. */
record LockedExpressions(
    String where,
    Method method,
    ParameterNameDiscoverer parameterNames,
    @Nullable BeanFactoryResolver beans) {
  private static final SpelExpressionParser PARSER = new SpelExpressionParser();
  private static final ParserContext TEMPLATE = new TemplateParserContext("#{", "}");

  private static final Pattern BARE_VARIABLE = Pattern.compile("#\\w+");

  List<Expression> names(String[] texts) {
    if (texts.length == 0) {
      throw new IllegalStateException(where + " has no name");
    }
    List<Expression> names = new ArrayList<>();
    for (String text : texts) {
      if (text.isBlank()) {
        throw new IllegalStateException(where + " has an empty name");
      }
      names.add(parse(text, TEMPLATE));
    }
    return List.copyOf(names);
  }

  Expression value(String text) {
    return parse(text, null);
  }

  private Expression parse(String text, @Nullable ParserContext context) {
    try {
      Expression parsed =
          context == null ? PARSER.parseExpression(text) : PARSER.parseExpression(text, context);
      requireKnownVariables(text, parsed);
      requireNoBareVariable(text, parsed);
      return parsed;
    } catch (ParseException e) {
      throw new IllegalStateException(
          where + ": '" + text + "' cannot be parsed: " + e.getSimpleMessage(), e);
    }
  }

  /** An unknown variable is null, and all calls would share one name. */
  private void requireKnownVariables(String text, Expression parsed) {
    Set<String> known = variables();
    Set<String> unknown = new TreeSet<>();
    for (Expression part : parts(parsed)) {
      if (part instanceof SpelExpression spel) {
        collectUnknown(spel.getAST(), known, unknown);
      }
    }
    if (!unknown.isEmpty()) {
      throw new IllegalStateException(
          ("%s: '%s' names %s, known are %s (the names of parameters need the compiler option"
                  + " -parameters)")
              .formatted(where, text, unknown, known));
    }
  }

  /** Outside of an expression it is plain text, and all calls would share one name. */
  private void requireNoBareVariable(String text, Expression parsed) {
    for (Expression part : parts(parsed)) {
      if (!(part instanceof LiteralExpression)) {
        continue;
      }
      Matcher bare = BARE_VARIABLE.matcher(part.getExpressionString());
      while (bare.find()) {
        if (variables().contains(bare.group())) {
          String variable = bare.group();
          throw new IllegalStateException(
              "%s: '%s' has %s as plain text; write #{%3$s}".formatted(where, text, variable));
        }
      }
    }
  }

  private Set<String> variables() {
    Set<String> known = new TreeSet<>();
    @Nullable String[] names = parameterNames.getParameterNames(method);
    for (int i = 0; i < method.getParameterCount(); i++) {
      known.add("#a" + i);
      known.add("#p" + i);
      if (names != null && names[i] != null) {
        known.add("#" + names[i]);
      }
    }
    return known;
  }

  private static void collectUnknown(SpelNode node, Set<String> known, Set<String> unknown) {
    if (node instanceof VariableReference) {
      String name = node.toStringAST();
      if (!known.contains(name) && !name.equals("#root") && !name.equals("#this")) {
        unknown.add(name);
      }
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      collectUnknown(node.getChild(i), known, unknown);
    }
  }

  private static List<Expression> parts(Expression expression) {
    return expression instanceof CompositeStringExpression composite
        ? List.of(composite.getExpressions())
        : List.of(expression);
  }

  /** The value, converted to this type. */
  @Nullable Object evaluate(
      Expression expression, @Nullable Object target, @Nullable Object[] arguments, Class<?> type) {
    return expression.getValue(context(target, arguments), type);
  }

  List<String> evaluate(
      List<Expression> names, @Nullable Object target, @Nullable Object[] arguments) {
    EvaluationContext context = context(target, arguments);
    List<String> all = new ArrayList<>();
    for (Expression name : names) {
      if (name instanceof CompositeStringExpression) {
        all.add(joined(name, context));
      } else {
        addEach(all, name, value(name, context));
      }
    }
    if (all.isEmpty()) {
      throw new IllegalArgumentException(
          where
              + ": "
              + names.stream().map(Expression::getExpressionString).toList()
              + " gives no name: the collection is empty");
    }
    return all;
  }

  private EvaluationContext context(@Nullable Object target, @Nullable Object[] arguments) {
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(target, method, arguments, parameterNames);
    if (beans != null) {
      context.setBeanResolver(beans);
    }
    return context;
  }

  private String joined(Expression composite, EvaluationContext context) {
    StringBuilder name = new StringBuilder();
    for (Expression part : parts(composite)) {
      name.append(
          part instanceof LiteralExpression
              ? part.getExpressionString()
              : text(part, value(part, context)));
    }
    return name.toString();
  }

  /** The value; for an {@code Optional}, the value that it contains. */
  private Object value(Expression expression, EvaluationContext context) {
    Object value = expression.getValue(context);
    if (value instanceof Optional<?> optional) {
      value = optional.orElse(null);
    }
    if (value == null) {
      throw rejected(expression, "is null");
    }
    return value;
  }

  /** The text of one value. Two calls must not share a name by accident, nor miss each other. */
  private String text(Expression expression, @Nullable Object value) {
    if (value == null) {
      throw rejected(expression, "has a null");
    }
    String text = StableText.of(value);
    if (text == null) {
      throw rejected(expression, StableText.reason(value));
    }
    if (text.isEmpty()) {
      throw rejected(expression, "is empty");
    }
    return text;
  }

  private IllegalArgumentException rejected(Expression expression, String reason) {
    return new IllegalArgumentException(
        where + ": '" + expression.getExpressionString() + "' " + reason);
  }

  private void addEach(List<String> all, Expression expression, Object value) {
    if (value instanceof Collection<?> several) {
      for (Object one : several) {
        all.add(text(expression, one));
      }
    } else if (value.getClass().isArray()) {
      for (int i = 0; i < Array.getLength(value); i++) {
        all.add(text(expression, Array.get(value, i)));
      }
    } else {
      all.add(text(expression, value));
    }
  }
}
