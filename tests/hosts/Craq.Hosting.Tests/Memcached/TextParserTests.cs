using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using Craq.Hosting.Memcached;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>memcached's text protocol, by its <c>protocol.txt</c>.</summary>
public sealed class TextParserTests
{
    private const int MaxValue = 100;

    [Fact]
    public void Storage_command_has_numbers_and_a_block()
    {
        var command = Single("set k 7 60 5 noreply\r\nhello\r\n");
        Assert.Equal((MemcachedVerb.Set, "k", 7U, 60L, true),
            (command.Verb, command.Key.ToString(), command.Flags, command.Exptime, command.NoReply));
        Assert.Equal("hello"u8.ToArray(), command.Value.ToArray());
        var cas = Single("cas k 0 0 1 18446744073709551615\r\nx\r\n");
        Assert.Equal((MemcachedVerb.CompareAndSet, ulong.MaxValue), (cas.Verb, cas.Number));
    }

    [Fact]
    public void Block_may_hold_line_ends_and_no_bytes_at_all()
    {
        Assert.Equal("a\r\nb"u8.ToArray(), Single("set k 0 0 4\r\na\r\nb\r\n").Value.ToArray());
        Assert.Equal(0, Single("set k 0 0 0\r\n\r\n").Value.Length);
    }

    [Fact]
    public void Commands_that_come_together_come_out_in_order()
    {
        var commands = All("get a b\r\nset k 0 0 1\r\nx\r\nincr n 2\ndelete k\r\n");
        Assert.Equal([MemcachedVerb.Get, MemcachedVerb.Set, MemcachedVerb.Increment, MemcachedVerb.Delete],
            commands.Select(command => command.Verb));
        Assert.Equal(["a", "b"], commands[0].Keys.Select(key => key.ToString()));
    }

    [Theory]
    [InlineData("nonsense", "ERROR")]
    [InlineData("", "ERROR")]
    [InlineData("get", "ERROR")]
    [InlineData("set k 0 0", "ERROR")]
    [InlineData("set k 0 0 -1", "CLIENT_ERROR bad command line format")]
    [InlineData("incr k", "ERROR")]
    [InlineData("incr k x", "CLIENT_ERROR invalid numeric delta argument")]
    [InlineData("incr k -1", "CLIENT_ERROR invalid numeric delta argument")]
    [InlineData("touch k x", "CLIENT_ERROR invalid exptime argument")]
    [InlineData("delete k 5", "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]")]
    [InlineData("flush_all x", "CLIENT_ERROR bad command line format")]
    [InlineData("version noreply", "ERROR")]
    [InlineData("quit now", "ERROR")]
    [InlineData("verbosity", "ERROR")]
    public void Faulty_line_has_the_answer_of_memcached(string line, string answer) =>
        Assert.Equal(answer, Single(line + "\r\n").Error);

    [Fact]
    public void Block_of_a_faulty_storage_command_is_passed_over()
    {
        var (longKey, large) = (new string('k', 251), new string('x', 101));
        var commands = All($"set {longKey} 0 0 3\r\nget\r\nset k 0 0 101\r\n{large}\r\nget k\r\n");
        Assert.Equal([TextParser.BadFormat, TextParser.TooLarge, null], commands.Select(command => command.Error));
    }

    [Fact]
    public void Block_without_an_end_is_a_bad_chunk_and_the_next_line_counts()
    {
        var commands = All("set k 0 0 2\r\nabcdef\r\nget k\r\n");
        Assert.Equal([CommandReader.BadData, null], commands.Select(command => command.Error));
    }

    [Fact]
    public void Line_without_end_is_refused_once_and_bounded()
    {
        var reader = new CommandReader(MaxValue);
        var errors = new List<string?>();
        for (var i = 0; i < 100; i++)
        {
            var buffer = new ReadOnlySequence<byte>(Encoding.ASCII.GetBytes(new string('x', TextParser.MaxLine + 1)));
            while (reader.Read(ref buffer) is { } command) errors.Add(command.Error);
            Assert.True(buffer.IsEmpty);
        }

        Assert.Equal([CommandReader.LineTooLong], errors);
        var rest = new ReadOnlySequence<byte>("x\r\nget k\r\n"u8.ToArray());
        Assert.Equal(MemcachedVerb.Get, reader.Read(ref rest)!.Verb);
    }

    /// <summary>Bytes may arrive one by one.</summary>
    [Fact]
    public void Commands_do_not_depend_on_the_split_of_the_bytes()
    {
        var bytes = "set k 1 2 3\r\nabc\r\nset big 0 0 999\r\n"u8.ToArray()
            .Concat(new byte[999]).Concat("\r\nset k 0 0 1\r\nxyz\r\ngets a b\r\nquit\r\n"u8.ToArray()).ToArray();
        var whole = All(bytes);
        for (var step = 1; step < 40; step++)
        {
            var reader = new CommandReader(MaxValue);
            var found = new List<TextCommand>();
            var buffer = ReadOnlySequence<byte>.Empty;
            for (var at = 0; at < bytes.Length; at += step)
            {
                buffer = new ReadOnlySequence<byte>(
                    [.. buffer.ToArray(), .. bytes.AsSpan(at, Math.Min(step, bytes.Length - at))]);
                while (reader.Read(ref buffer) is { } command) found.Add(command);
            }

            Assert.Equal(whole.Select(Text), found.Select(Text));
        }
    }

    /// <summary>Any bytes: commands or errors, and no more memory than came.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Any_bytes_are_commands_or_errors(int seed)
    {
        var random = new Random(seed);
        for (var run = 0; run < 2_000; run++)
        {
            var bytes = AnyBytes.Text(random);
            foreach (var command in All(bytes))
                Assert.True(command.Error is not null || command.Verb != MemcachedVerb.None,
                    Convert.ToHexString(bytes));
        }
    }

    [Fact]
    public async Task Answer_with_line_ends_in_the_text_stays_a_single_line()
    {
        var pipe = new Pipe();
        pipe.Writer.Line("SERVER_ERROR a\r\nb é");
        await pipe.Writer.CompleteAsync();
        var answer = await pipe.Reader.ReadAsync(TestContext.Current.CancellationToken);
        Assert.Equal("SERVER_ERROR a  b é\r\n", Encoding.UTF8.GetString(answer.Buffer.ToArray()));
    }

    private static string Text(TextCommand command) =>
        $"{command.Verb} {command.Error} {string.Join(',', command.Keys)} {Convert.ToHexString(command.Value.Span)}";

    private static TextCommand Single(string text) => Assert.Single(All(text));

    private static List<TextCommand> All(string text) => All(Encoding.ASCII.GetBytes(text));

    private static List<TextCommand> All(byte[] bytes)
    {
        var reader = new CommandReader(MaxValue);
        var buffer = new ReadOnlySequence<byte>(bytes);
        var commands = new List<TextCommand>();
        while (reader.Read(ref buffer) is { } command) commands.Add(command);
        return commands;
    }
}
