package dev.redlock.simulation;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class HistoriesTest {

  @TestFactory
  Stream<DynamicTest> directedHistories() {
    return Histories.all().entrySet().stream()
        .map(history -> DynamicTest.dynamicTest(history.getKey(), history.getValue()::run));
  }
}
