using System.Buffers;
using Craq.Hosting.Memcached;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>Frames of memcached's binary protocol.</summary>
public sealed class BinaryParserTests
{
    private const int MaxValue = 100;

    [Fact]
    public void Storage_command_has_flags_expiry_version_and_value()
    {
        var command = Assert.Single(All(BinaryFrame.Store(0x01, "k", "hello", flags: 7, exptime: 60, version: 9)));
        Assert.Equal((MemcachedVerb.Set, "k", 7U, 60U, 9UL, BinaryFrame.Opaque),
            (command.Verb, command.Key.ToString(), command.Flags, command.Exptime, command.Header.Version,
                command.Header.Opaque));
        Assert.Equal("hello"u8.ToArray(), command.Value.ToArray());
        Assert.Equal(0, Assert.Single(All(BinaryFrame.Store(0x01, "k", ""))).Value.Length);
    }

    [Fact]
    public void Counter_that_stays_absent_has_no_initial_number()
    {
        var command = Assert.Single(All(BinaryFrame.Count(0x05, "n", ulong.MaxValue, 3, 60)));
        Assert.Equal((ulong.MaxValue, 3UL, 60U), (command.Delta, command.Initial, command.Exptime));
        Assert.Null(Assert.Single(All(BinaryFrame.Count(0x06, "n", 1, 3, uint.MaxValue))).Initial);
    }

    [Theory]
    [InlineData(0x09, MemcachedVerb.Get, true, false)]
    [InlineData(0x0c, MemcachedVerb.Get, false, true)]
    [InlineData(0x0d, MemcachedVerb.Get, true, true)]
    [InlineData(0x11, MemcachedVerb.Set, true, false)]
    [InlineData(0x17, MemcachedVerb.Quit, true, false)]
    [InlineData(0x1a, MemcachedVerb.Prepend, true, false)]
    [InlineData(0x1b, MemcachedVerb.Verbosity, false, false)]
    [InlineData(0x1c, MemcachedVerb.Touch, false, false)]
    [InlineData(0x1e, MemcachedVerb.GetAndTouch, true, false)]
    [InlineData(0x1f, MemcachedVerb.None, false, false)]
    [InlineData(0x20, MemcachedVerb.None, false, false)]
    [InlineData(0x22, MemcachedVerb.None, false, false)]
    [InlineData(0x23, MemcachedVerb.GetAndTouch, false, true)]
    [InlineData(0x24, MemcachedVerb.GetAndTouch, true, true)]
    [InlineData(0x25, MemcachedVerb.None, false, false)]
    [InlineData(0xff, MemcachedVerb.None, false, false)]
    public void Opcode_has_the_command_of_memcached(int opcode, object verb, bool isQuiet, bool hasKey) =>
        Assert.Equal(new BinaryForm((MemcachedVerb)verb, isQuiet, hasKey), BinaryForm.Of((byte)opcode));

    [Theory]
    [InlineData(0x00, 0, 0, 0)]
    [InlineData(0x00, 251, 0, 251)]
    [InlineData(0x00, 1, 0, 2)]
    [InlineData(0x01, 1, 4, 5)]
    [InlineData(0x01, 0, 8, 8)]
    [InlineData(0x04, 1, 4, 5)]
    [InlineData(0x05, 1, 16, 17)]
    [InlineData(0x05, 1, 20, 22)]
    [InlineData(0x07, 1, 0, 1)]
    [InlineData(0x08, 0, 8, 8)]
    [InlineData(0x0a, 0, 0, 1)]
    [InlineData(0x0b, 1, 0, 1)]
    [InlineData(0x0e, 1, 8, 9)]
    [InlineData(0x10, 0, 4, 4)]
    [InlineData(0x1b, 0, 0, 0)]
    [InlineData(0x1c, 1, 0, 1)]
    [InlineData(0x1d, 0, 4, 4)]
    [InlineData(0x00, 2, 0, 1)]
    [InlineData(0x25, 1, 1, 1)]
    [InlineData(0x01, 1, 8, 0x40000001)]
    [InlineData(0x01, 1, 8, 0xffffffff)]
    public void Lengths_that_do_not_fit_the_command_are_malformed(
        int opcode, int keyLength, int extrasLength, uint bodyLength)
    {
        var frame = BinaryFrame.Header((byte)opcode, keyLength, extrasLength, bodyLength);
        var command = Read(new FrameReader(MaxValue), frame);
        Assert.NotNull(command);
        Assert.Equal((BinaryStatus.Invalid, true), (command.Status, command.IsMalformed));
    }

    [Fact]
    public void Bytes_that_are_no_request_end_the_connection()
    {
        var command = Read(new FrameReader(MaxValue), BinaryFrame.Header(0x0a, 0, 0, 0, magic: 0x81));
        Assert.NotNull(command);
        Assert.Equal((MemcachedVerb.Quit, true, true), (command.Verb, command.Form.IsQuiet, command.IsMalformed));
    }

    [Fact]
    public void Body_of_a_large_value_or_an_unknown_opcode_is_passed_over()
    {
        var commands = All([.. BinaryFrame.Store(0x01, "k", new string('x', MaxValue + 1)),
            .. BinaryFrame.Of(0x40, "k", new byte[3], new byte[5_000]), .. BinaryFrame.Of(0x00, "k")]);
        Assert.Equal([BinaryStatus.TooLarge, BinaryStatus.UnknownCommand, BinaryStatus.Ok],
            commands.Select(command => command.Status));
        Assert.All(commands, command => Assert.False(command.IsMalformed));
    }

    /// <summary>Bytes may arrive one by one.</summary>
    [Fact]
    public void Commands_do_not_depend_on_the_split_of_the_bytes()
    {
        byte[] bytes =
        [
            .. BinaryFrame.Store(0x01, "k", "abc", 1, 2), .. BinaryFrame.Store(0x01, "k", new string('x', 999)),
            .. BinaryFrame.Of(0x99, value: new byte[70]), .. BinaryFrame.Count(0x05, "n", 1, 2, 3),
            .. BinaryFrame.Of(0x0a),
        ];
        var whole = All(bytes).Select(Text).ToList();
        Assert.Equal(5, whole.Count);
        for (var step = 1; step < 40; step++)
        {
            var reader = new FrameReader(MaxValue);
            var found = new List<string>();
            var buffer = ReadOnlySequence<byte>.Empty;
            for (var at = 0; at < bytes.Length; at += step)
            {
                buffer = new ReadOnlySequence<byte>(
                    [.. buffer.ToArray(), .. bytes.AsSpan(at, Math.Min(step, bytes.Length - at))]);
                while (reader.Read(ref buffer) is { } command) found.Add(Text(command));
            }

            Assert.Equal(whole, found);
        }
    }

    [Fact]
    public void Announced_value_takes_memory_as_bytes_arrive()
    {
        var reader = new FrameReader(1 << 20);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Null(Read(reader, BinaryFrame.Header(0x01, 1, 8, (1 << 20) + 9)));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 64 << 10);
    }

    /// <summary>Any bytes: commands or statuses, and no exception.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Any_bytes_are_commands_or_statuses(int seed)
    {
        var random = new Random(seed);
        var kinds = new HashSet<(MemcachedVerb, BinaryStatus)>();
        for (var run = 0; run < 2_000; run++)
        {
            foreach (var command in All(AnyBytes.Binary(random)))
            {
                kinds.Add((command.Verb, command.Status));
                var isKnown = command.Verb != MemcachedVerb.None;
                Assert.True(isKnown || command.Status is BinaryStatus.UnknownCommand or BinaryStatus.Invalid);
                if (command.Status != BinaryStatus.Ok || command.IsMalformed) continue;
                Assert.InRange(command.Value.Length, 0, MaxValue);
                Assert.InRange(command.Key.Bytes.Length, 0, 250);
            }
        }

        // The bytes get past the header.
        Assert.InRange(kinds.Count(kind => kind.Item2 == BinaryStatus.Ok), 15, 40);
    }

    private static string Text(BinaryCommand command) =>
        $"{command.Header} {command.Form} {command.Status} {command.Flags} {command.Exptime} {command.Delta} "
        + $"{command.Initial} {Convert.ToHexString(command.Key.Bytes.Span)} {Convert.ToHexString(command.Value.Span)}";

    private static BinaryCommand? Read(FrameReader reader, byte[] bytes)
    {
        var buffer = new ReadOnlySequence<byte>(bytes);
        return reader.Read(ref buffer);
    }

    private static List<BinaryCommand> All(byte[] bytes)
    {
        var reader = new FrameReader(MaxValue);
        var buffer = new ReadOnlySequence<byte>(bytes);
        var commands = new List<BinaryCommand>();
        while (reader.Read(ref buffer) is { } command)
        {
            commands.Add(command);
            if (command.IsMalformed) break;
        }

        return commands;
    }
}
