package dev.redlock.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {

  @Test
  void message_writtenAndRead_isTheSame() {
    Message message = Message.of("refused", "why", "2 of 5 = too few\nsee %node", "n", 3, "no", "");

    String line = message.toString();

    assertThat(line).doesNotContain("\n").startsWith("refused why=");
    assertThat(Message.parse(line)).contains(message);
  }

  @Test
  void sale_writtenAndRead_isTheSame() {
    Sale sale = new Sale(2, 1_795_250_000_123_456L, 1, 2, 3, Sale.Outcome.REJECTED);

    assertThat(Message.parse(sale.message().toString()).map(read -> Sale.of(2, read)))
        .contains(sale);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "WARNING: something of the JVM",
        "sale token",
        "sale =3",
        "sale token=%zz",
        "12:00:01 ERROR x=1"
      })
  void parse_ofLineThatIsNotOurs_isEmpty(String line) {
    assertThat(Message.parse(line)).isEmpty();
  }
}
