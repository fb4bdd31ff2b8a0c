package dev.redlock.spring.boot;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** Rejects times under {@code redlock} without a unit: {@code 30} would be 30 ms. */
final class DurationsWithUnit implements ConfigurationPropertiesBindHandlerAdvisor {
  private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("redlock");

  @Override
  public BindHandler apply(BindHandler bindHandler) {
    return new AbstractBindHandler(bindHandler) {
      @Override
      public @Nullable Object onSuccess(
          ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        if (result instanceof Duration time && !time.isZero() && ROOT.isAncestorOf(name)) {
          requireUnit(name, context.getConfigurationProperty());
        }
        return super.onSuccess(name, target, context, result);
      }
    };
  }

  private static void requireUnit(
      ConfigurationPropertyName name, @Nullable ConfigurationProperty property) {
    String value = property == null ? "" : String.valueOf(property.getValue()).strip();
    if (value.matches("[+-]?[0-9]+")) {
      throw RedlockProperties.invalid(
          name.toString(), value, "has no unit; write " + value + "s or " + value + "ms");
    }
  }
}
