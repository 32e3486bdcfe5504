using System.Buffers;
using System.Text;

namespace Corfu.Load.Tests;

/// <summary>Requests and answers of memcached's text protocol, and of redis'.</summary>
public sealed class TextDialectTests
{
    [Theory]
    [InlineData("memcached", "get k\r\n", "set k 0 0 2\r\nab\r\n")]
    [InlineData("redis", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nab\r\n")]
    public void Requests_are_as_the_protocol_says(string dialect, string get, string set)
    {
        Assert.Equal(get, Encoding.ASCII.GetString(TextDialect.Named(dialect).Get("k")));
        Assert.Equal(set, Encoding.ASCII.GetString(TextDialect.Named(dialect).Set("k", "ab"u8)));
    }

    [Theory]
    [InlineData("memcached", "VALUE k 0 3\r\na\nb\r\nEND\r\n", "STORED\r\n")]
    [InlineData("redis", "$3\r\na\nb\r\n", "+OK\r\n")]
    public void Answers_are_taken_one_by_one_at_any_cut(string dialect, string value, string stored)
    {
        var bytes = Encoding.ASCII.GetBytes(value + stored + value);
        for (var cut = 0; cut <= bytes.Length; cut++)
        {
            List<int> outcomes = [];
            var first = new ReadOnlySequence<byte>(bytes, 0, cut);
            while (TextDialect.Named(dialect).TryTake(ref first, out var outcome)) outcomes.Add(outcome);
            var rest = new ReadOnlySequence<byte>(bytes.AsMemory(cut - (int)first.Length));
            while (TextDialect.Named(dialect).TryTake(ref rest, out var outcome)) outcomes.Add(outcome);

            Assert.Equal([3, TextDialect.Stored, 3], outcomes);
            Assert.True(rest.IsEmpty);
        }
    }

    [Theory]
    [InlineData("memcached", "END\r\n")]
    [InlineData("memcached", "SERVER_ERROR out of memory\r\n")]
    [InlineData("memcached", "VALUE k 0 x\r\n")]
    [InlineData("redis", "$-1\r\n")]
    [InlineData("redis", "-ERR wrong\r\n")]
    public void Misses_and_errors_are_no_answers(string dialect, string answer)
    {
        var buffer = new ReadOnlySequence<byte>(Encoding.ASCII.GetBytes(answer));

        Assert.Throws<CorfuException>(() => TextDialect.Named(dialect).TryTake(ref buffer, out _));
    }

    [Fact]
    public void Protocol_without_a_dialect_is_refused() =>
        Assert.Throws<FormatException>(() => TextDialect.Named("http"));
}
