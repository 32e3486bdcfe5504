using Tango.Formatting;

namespace Tango.Tests.Formatting;

public sealed class MessagePackJsonTests
{
    [Theory]
    [InlineData("c0", "null")]
    [InlineData("c3", "true")]
    [InlineData("cfffffffffffffffff", "18446744073709551615")]
    [InlineData("d38000000000000000", "-9223372036854775808")]
    [InlineData("cb3ff8000000000000", "1.5")]
    [InlineData("cb7ff0000000000000", "\"Infinity\"")]
    [InlineData("a368c3a9", "\"hé\"")]
    [InlineData("c403010203", "{\"base64\":\"AQID\"}")]
    [InlineData("93010203", "[1,2,3]")]
    [InlineData("82a16101029103", "{\"a\":1,\"2\":[3]}")]
    [InlineData("819201a16102", "{\"[1,\\\"a\\\"]\":2}")]
    [InlineData("d6ff00000000", "{\"time\":\"1970-01-01T00:00:00Z\"}")]
    [InlineData("d6050a0b0c0d", "{\"ext\":5,\"base64\":\"CgsMDQ==\"}")]
    [InlineData("0190", "1 []")]
    public void Values_as_text(string hex, string text) =>
        Assert.Equal(text, MessagePackJson.ToText(Convert.FromHexString(hex)));

    [Fact]
    public void Any_bytes_give_text_or_a_typed_exception()
    {
        var random = new Random(12);
        int texts = 0;
        for (int round = 0; round < 20_000; round++)
        {
            var bytes = new byte[random.Next(1, 30)];
            random.NextBytes(bytes);
            try
            {
                MessagePackJson.ToText(bytes);
                texts++;
            }
            catch (TangoFormatException)
            {
            }
        }
        Assert.InRange(texts, 100, 19_900);
    }
}
