namespace Craq.Hosting.Tests.Memcached;

/// <summary>The binary protocol by its bytes, over real nodes: the cases of libmemcached's memcapable, and what it
/// leaves out.</summary>
public sealed class BinaryProtocolTests(MemcachedNodes nodes) : IClassFixture<MemcachedNodes>
{
    private const int Ok = 0;
    private const int NotFound = 1;
    private const int Exists = 2;
    private const int TooLarge = 3;
    private const int Invalid = 4;
    private const int NotStored = 5;
    private const int NotANumber = 6;
    private const int Unknown = 0x81;

    private static string NewKey() => $"k{Guid.NewGuid():n}";

    [Fact]
    public async Task Noop_version_verbosity_and_quit_are_answered()
    {
        using var connection = await nodes.ConnectAsync();
        var noop = await connection.CallAsync(BinaryFrame.Of(0x0a));
        Assert.True(noop is { Status: Ok, IsEmpty: true, Version: 0 });
        var version = await connection.CallAsync(BinaryFrame.Of(0x0b));
        // libmemcached reads it as three numbers, into 32 bytes.
        Assert.Equal((Ok, ""), (version.Status, version.Key));
        Assert.Matches("^[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}$", version.Text);
        Assert.Equal(Ok, (await connection.CallAsync(BinaryFrame.Of(0x1b, extras: new byte[4]))).Status);
        var quit = await connection.CallAsync(BinaryFrame.Of(0x07));
        Assert.True(quit is { Status: Ok, IsEmpty: true });
        await connection.EndsAsync();
        using var quiet = await nodes.ConnectAsync();
        await quiet.SendAsync(BinaryFrame.Of(0x17));
        await quiet.EndsAsync();
    }

    [Theory]
    [InlineData(0x01, false)]
    [InlineData(0x11, true)]
    public async Task Set_replaces_and_compares_a_version(byte opcode, bool isQuiet)
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        for (var i = 0; i < 4; i++) await SucceedAsync(connection, BinaryFrame.Store(opcode, key, "v"), isQuiet);
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, "v", flags: 0xcafe));
        Assert.True(written is { Status: Ok, IsEmpty: true, Version: > 0 });
        await SucceedAsync(connection, BinaryFrame.Store(opcode, key, "w", version: written.Version), isQuiet);
        var refused = await connection.CallAsync(BinaryFrame.Store(opcode, key, "x", version: written.Version));
        Assert.True(refused is { Status: Exists, Version: 0, Extras: [], Key: "" });
        Assert.Equal("w", (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Text);
        var absent = await connection.CallAsync(BinaryFrame.Store(opcode, NewKey(), "x", version: written.Version));
        Assert.Equal(NotFound, absent.Status);
    }

    [Theory]
    [InlineData(0x02, false)]
    [InlineData(0x12, true)]
    public async Task Add_stores_an_absent_object_alone(byte opcode, bool isQuiet)
    {
        using var connection = await nodes.ConnectAsync();
        var frame = BinaryFrame.Store(opcode, NewKey(), "v");
        await SucceedAsync(connection, frame, isQuiet);
        for (var i = 0; i < 3; i++) Assert.Equal(Exists, (await connection.CallAsync(frame)).Status);
    }

    [Theory]
    [InlineData(0x03, false)]
    [InlineData(0x13, true)]
    public async Task Replace_needs_an_object_and_compares_a_version(byte opcode, bool isQuiet)
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Store(opcode, key, "v"))).Status);
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, "u"));
        await SucceedAsync(connection, BinaryFrame.Store(opcode, key, "v", version: written.Version), isQuiet);
        await SucceedAsync(connection, BinaryFrame.Store(opcode, key, "v"), isQuiet);
        var refused = await connection.CallAsync(BinaryFrame.Store(opcode, key, "w", version: written.Version));
        Assert.Equal(Exists, refused.Status);
    }

    [Theory]
    [InlineData(0x04, false)]
    [InlineData(0x14, true)]
    public async Task Delete_needs_an_object_and_compares_a_version(byte opcode, bool isQuiet)
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Of(opcode, key))).Status);
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, "v"));
        var refused = await connection.CallAsync(BinaryFrame.Of(opcode, key, version: written.Version - 1));
        Assert.Equal(Exists, refused.Status);
        await SucceedAsync(connection, BinaryFrame.Of(opcode, key, version: written.Version), isQuiet);
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Status);
    }

    [Theory]
    [InlineData(0x00, false, false)]
    [InlineData(0x09, true, false)]
    [InlineData(0x0c, false, true)]
    [InlineData(0x0d, true, true)]
    [InlineData(0x1d, false, false)]
    [InlineData(0x1e, true, false)]
    [InlineData(0x23, false, true)]
    [InlineData(0x24, true, true)]
    public async Task Get_answers_hits_and_misses_in_the_form_of_the_opcode(byte opcode, bool isQuiet, bool hasKey)
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        var frame = BinaryFrame.Of(opcode, key, opcode >= 0x1d ? BinaryFrame.Number(1000) : []);
        if (isQuiet)
        {
            await connection.QuietAsync(frame);
        }
        else
        {
            var miss = await connection.CallAsync(frame);
            Assert.True(miss is { Status: NotFound, Extras: [], Version: 0 });
            Assert.Equal(hasKey ? key : "", miss.Key);
        }

        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, "value", flags: 0xfeed1234));
        var hit = await connection.CallAsync(frame);
        Assert.Equal((Ok, "value", hasKey ? key : "", 0xfeed1234U),
            (hit.Status, hit.Text, hit.Key, hit.Flags));
        Assert.True(opcode >= 0x1d ? hit.Version > written.Version : hit.Version == written.Version);
    }

    [Theory]
    [InlineData(0x05, 0x15)]
    [InlineData(0x06, 0x16)]
    public async Task Counter_begins_at_the_initial_number_and_counts(byte opcode, byte quiet)
    {
        using var connection = await nodes.ConnectAsync();
        var (key, isUp) = (NewKey(), opcode == 0x05);
        var frame = BinaryFrame.Count(opcode, key, delta: 1, initial: 2, exptime: 0);
        foreach (var sum in isUp ? new ulong[] { 2, 3, 4, 5 } : [2, 1, 0, 0])
        {
            var counted = await connection.CallAsync(frame);
            Assert.Equal((Ok, sum, 8), (counted.Status, counted.Sum, counted.Value.Length));
            Assert.True(counted is { Version: > 0, Extras: [], Key: "" });
        }

        await connection.QuietAsync(BinaryFrame.Count(quiet, key, 1, 2, 0));
        Assert.Equal(isUp ? "6" : "0", (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Text);
    }

    [Fact]
    public async Task Counter_with_the_last_expiry_stays_absent()
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        var frame = BinaryFrame.Count(0x05, key, 1, 7, uint.MaxValue);
        Assert.Equal(NotFound, (await connection.CallAsync(frame)).Status);
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Status);
        // Quiet forms answer errors.
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Count(0x15, key, 1, 7, uint.MaxValue))).Status);
        await connection.CallAsync(BinaryFrame.Store(0x01, key, "18446744073709551615"));
        Assert.Equal(0UL, (await connection.CallAsync(frame)).Sum);
    }

    [Fact]
    public async Task Counter_compares_a_version_and_refuses_text()
    {
        using var connection = await nodes.ConnectAsync();
        var (key, large) = (NewKey(), (1UL << 63) + 5);
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, "1"));
        var refused = await connection.CallAsync(BinaryFrame.Count(0x05, key, 1, 0, 0, written.Version - 1));
        Assert.Equal(Exists, refused.Status);
        var counted = await connection.CallAsync(BinaryFrame.Count(0x05, key, large, 0, 0, written.Version));
        Assert.Equal((Ok, large + 1), (counted.Status, counted.Sum));
        var absent = await connection.CallAsync(BinaryFrame.Count(0x05, NewKey(), 1, 0, 0, written.Version));
        Assert.Equal(NotFound, absent.Status);
        await connection.CallAsync(BinaryFrame.Store(0x01, key, "text"));
        Assert.Equal(NotANumber, (await connection.CallAsync(BinaryFrame.Count(0x06, key, 1, 0, 0))).Status);
    }

    [Fact]
    public async Task Counters_of_many_clients_begin_once()
    {
        var key = NewKey();
        await Task.WhenAll(Enumerable.Range(0, 6).Select(async _ =>
        {
            using var own = await nodes.ConnectAsync();
            for (var i = 0; i < 10; i++)
                Assert.Equal(Ok, (await own.CallAsync(BinaryFrame.Count(0x05, key, 1, 1, 0))).Status);
        }));
        using var connection = await nodes.ConnectAsync();
        Assert.Equal("60", (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Text);
    }

    [Theory]
    [InlineData(0x0e, false, "hello", " world")]
    [InlineData(0x19, true, "hello", " world")]
    [InlineData(0x0f, false, " world", "hello")]
    [InlineData(0x1a, true, " world", "hello")]
    public async Task Append_and_prepend_extend_an_object(byte opcode, bool isQuiet, string first, string second)
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        var frame = BinaryFrame.Of(opcode, key, value: System.Text.Encoding.ASCII.GetBytes(second));
        Assert.Equal(NotStored, (await connection.CallAsync(frame)).Status);
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, first, flags: 5));
        var wrong = BinaryFrame.Of(opcode, key, value: "x"u8.ToArray(), version: written.Version - 1);
        Assert.Equal(Exists, (await connection.CallAsync(wrong)).Status);
        await SucceedAsync(connection, frame, isQuiet);
        var found = await connection.CallAsync(BinaryFrame.Of(0x00, key));
        Assert.Equal(("hello world", 5U), (found.Text, found.Flags));
    }

    [Fact]
    public async Task Touch_changes_the_expiry()
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        var frame = BinaryFrame.Of(0x1c, key, BinaryFrame.Number(1000));
        Assert.Equal(NotFound, (await connection.CallAsync(frame)).Status);
        await connection.CallAsync(BinaryFrame.Store(0x01, key, "v"));
        Assert.Equal(Ok, (await connection.CallAsync(frame)).Status);
        Assert.Equal("v", (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Text);
        // A date of the year 1970.
        var past = BinaryFrame.Of(0x1c, key, BinaryFrame.Number((60 * 60 * 24 * 30) + 1));
        Assert.Equal(Ok, (await connection.CallAsync(past)).Status);
        Assert.Equal(NotFound, (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Status);
    }

    [Fact]
    public async Task Stat_ends_with_an_empty_answer()
    {
        using var connection = await nodes.ConnectAsync();
        await connection.SendAsync(BinaryFrame.Of(0x10));
        var names = new List<string>();
        while (await connection.ReceiveAsync() is { IsEmpty: false } stat)
        {
            Assert.Equal((0x10, Ok, BinaryFrame.Opaque), (stat.Opcode, stat.Status, stat.Opaque));
            names.Add(stat.Key);
        }

        Assert.Contains("get_hits", names);
    }

    /// <summary>As memcapable asks: opcodes that are none, with SASL's among them.</summary>
    [Fact]
    public async Task Unknown_opcode_is_answered_and_the_connection_goes_on()
    {
        using var connection = await nodes.ConnectAsync();
        foreach (var opcode in Enumerable.Range(0x1b, 0xe5).Where(o => o is 0x1f or 0x20 or 0x21 or 0x22 or > 0x24))
        {
            var answer = await connection.CallAsync(BinaryFrame.Of((byte)opcode, "PLAIN", value: new byte[9]));
            Assert.Equal((Unknown, 0L), (answer.Status, answer.Version));
        }

        Assert.Equal(Ok, (await connection.CallAsync(BinaryFrame.Of(0x0a))).Status);
    }

    [Fact]
    public async Task Quiet_retrievals_that_come_together_are_answered_in_order_before_the_noop()
    {
        using var connection = await nodes.ConnectAsync();
        var prefix = NewKey();
        for (var i = 0; i < 80; i += 2) await connection.CallAsync(BinaryFrame.Store(0x01, $"{prefix}{i}", $"{i}"));
        var frames = Enumerable.Range(0, 80).Select(i => BinaryFrame.Of(0x0d, $"{prefix}{i}", opaque: (uint)i));
        // The write behind the retrievals is not seen by them.
        var behind = BinaryFrame.Store(0x11, $"{prefix}1", "later");
        await connection.SendAsync([.. frames, behind, BinaryFrame.Of(0x0a)]);
        for (var i = 0; i < 80; i += 2)
        {
            var hit = await connection.ReceiveAsync();
            Assert.Equal(((uint)i, $"{prefix}{i}", $"{i}"), (hit.Opaque, hit.Key, hit.Text));
        }

        Assert.Equal(0x0a, (await connection.ReceiveAsync()).Opcode);
        Assert.Equal("later", (await connection.CallAsync(BinaryFrame.Of(0x00, $"{prefix}1"))).Text);
    }

    [Fact]
    public async Task Value_above_the_limit_is_refused_and_passed_over()
    {
        using var connection = await nodes.ConnectAsync();
        var key = new string('k', 250);
        var (most, large) = (new string('x', 1 << 20), new string('x', (1 << 20) + 1));
        Assert.Equal(Ok, (await connection.CallAsync(BinaryFrame.Store(0x01, key, most))).Status);
        Assert.Equal(TooLarge, (await connection.CallAsync(BinaryFrame.Store(0x11, key, large))).Status);
        Assert.Equal(1 << 20, (await connection.CallAsync(BinaryFrame.Of(0x00, key))).Value.Length);
    }

    [Fact]
    public async Task Get_and_touch_serves_the_largest_value()
    {
        using var connection = await nodes.ConnectAsync();
        var key = NewKey();
        var written = await connection.CallAsync(BinaryFrame.Store(0x01, key, new string('x', 1 << 20), flags: 9));
        var found = await connection.CallAsync(BinaryFrame.Of(0x1d, key, BinaryFrame.Number(1000)));
        Assert.Equal((Ok, 1 << 20, 9U), (found.Status, found.Value.Length, found.Flags));
        Assert.True(found.Version > written.Version);
        var again = await connection.CallAsync(BinaryFrame.Of(0x00, key));
        Assert.Equal((found.Version, 1 << 20), (again.Version, again.Value.Length));
    }

    [Fact]
    public async Task Malformed_header_is_answered_and_ends_the_connection()
    {
        byte[][] headers =
        [
            BinaryFrame.Header(0x00, 251, 0, 251), BinaryFrame.Header(0x01, 1, 8, uint.MaxValue),
            BinaryFrame.Header(0x01, 9, 8, 10), BinaryFrame.Header(0x0a, 0, 0, 5),
        ];
        foreach (var header in headers)
        {
            using var connection = await nodes.ConnectAsync();
            Assert.Equal(Invalid, (await connection.CallAsync(header)).Status);
            await connection.EndsAsync();
        }

        using var other = await nodes.ConnectAsync();
        await other.SendAsync(BinaryFrame.Of(0x0a), BinaryFrame.Header(0x0a, 0, 0, 0, magic: (byte)'g'));
        Assert.Equal(Ok, (await other.ReceiveAsync()).Status);
        await other.EndsAsync();
    }

    [Fact]
    public async Task Text_and_binary_clients_share_a_port_and_objects()
    {
        using var text = await nodes.ConnectAsync();
        using var binary = await nodes.ConnectAsync();
        var key = NewKey();
        await text.SendAsync(System.Text.Encoding.ASCII.GetBytes($"set {key} 3 0 2\r\nhi\r\n"));
        Assert.Equal("STORED", await text.LineAsync());
        var found = await binary.CallAsync(BinaryFrame.Of(0x00, key));
        Assert.Equal(("hi", 3U), (found.Text, found.Flags));
        await binary.CallAsync(BinaryFrame.Store(0x01, key, "ho", version: found.Version));
        await text.SendAsync(System.Text.Encoding.ASCII.GetBytes($"cas {key} 0 0 1 {found.Version}\r\nx\r\n"));
        Assert.Equal("EXISTS", await text.LineAsync());
    }

    private static async Task SucceedAsync(BinaryConnection connection, byte[] frame, bool isQuiet)
    {
        if (isQuiet)
        {
            await connection.QuietAsync(frame);
            return;
        }

        var answer = await connection.CallAsync(frame);
        Assert.True(answer is { Status: Ok, IsEmpty: true });
        // As in memcached, an object that is gone has no version.
        Assert.Equal(frame[1] != 0x04, answer.Version > 0);
    }
}
