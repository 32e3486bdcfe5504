using Corfu.Protocol;

namespace Corfu.Client.Tests.Streams;

/// <summary>Everything that holds of a cursor holds when it learns by scans.</summary>
public class StreamScanTests : StreamCursorTests
{
    private const ulong First = 300;
    private const int Streams = 12;

    private readonly ScriptedLog _log = new();

    private protected override StreamCursorOptions Limits => new(ScanFrom: 1);

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 20)];

    [Fact]
    public async Task A_check_of_many_streams_asks_about_none_that_is_known()
    {
        var cursor = new StreamCursor(_log, new StreamCursorOptions(ScanFrom: Streams));
        for (var i = 0UL; i < Streams; i++) cursor.Add(new StreamId(First + i), LogPosition.Zero);
        for (var i = 0; i < 30; i++) _log.Append($"{i}", First + (ulong)(i % Streams));
        await PlayAsync(cursor);
        _log.Append("30", First, First + 1);
        Assert.Equal(["30"], await PlayAsync(cursor));
        cursor.Add(new StreamId(999), LogPosition.Zero);
        Assert.Empty(await PlayAsync(cursor));
        Assert.Empty(await PlayAsync(cursor));
        Assert.Equal([Streams, 0, 1, 0], _log.Asked);
    }

    [Fact]
    public async Task More_than_a_scan_reads_is_asked_for()
    {
        var cursor = new StreamCursor(_log, Limits);
        cursor.Add(new StreamId(First), LogPosition.Zero);
        await PlayAsync(cursor);
        for (var i = 0; i < 100; i++) _log.Append("x", 999);
        _log.Append("a", First);
        var before = _log.PositionsRead;
        Assert.Equal(["a"], await PlayAsync(cursor));
        Assert.Equal([1, 0, 1], _log.Asked);
        Assert.True(_log.PositionsRead - before < 10);
    }

    [Fact]
    public async Task A_stream_that_was_removed_is_neither_delivered_nor_missed()
    {
        var cursor = new StreamCursor(_log, Limits);
        cursor.Add(new StreamId(First), LogPosition.Zero);
        cursor.Add(new StreamId(First + 1), LogPosition.Zero);
        _log.Append("a0", First);
        _log.Append("b0", First + 1);
        _log.Append("ab", First, First + 1);
        await cursor.SyncAsync();
        Assert.NotNull(await cursor.ReadNextAsync());
        cursor.Remove(new StreamId(First + 1));
        _log.TrimBelow(new LogPosition(2));
        Assert.Equal(["ab"], await PlayAsync(cursor));
        _log.Append("b1", First + 1);
        cursor.Remove(new StreamId(First + 1));
        Assert.Empty(await PlayAsync(cursor));
        cursor.Add(new StreamId(First + 1), new LogPosition(3));
        Assert.Equal(["b1"], await PlayAsync(cursor));
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public async Task Scanning_cursor_delivers_the_same_as_an_asking_one(int seed)
    {
        var random = new Random(seed);
        _log.BareJunk = random.Next(2) == 0;
        var scanning = new StreamCursor(_log, new StreamCursorOptions(MaxBatch: 8, ScanFrom: 3));
        var asking = new StreamCursor(_log, new StreamCursorOptions(ScanFrom: int.MaxValue));
        var added = new HashSet<StreamId>();
        for (var round = 0; round < 60; round++)
        {
            var stream = new StreamId(First + (ulong)random.Next(Streams));
            var from = LogPosition.Max(scanning.Position, asking.Position);
            if (!added.Contains(stream))
            {
                added.Add(stream);
                scanning.Add(stream, from);
                asking.Add(stream, from);
            }
            else if (random.Next(6) == 0)
            {
                added.Remove(stream);
                scanning.Remove(stream);
                asking.Remove(stream);
            }

            Grow(random);
            Assert.Equal(await PlayAsync(asking), await PlayAsync(scanning));
        }
    }

    private void Grow(Random random)
    {
        for (var left = random.Next(10) == 0 ? random.Next(60) : random.Next(6); left > 0; left--)
        {
            ulong[] streams =
            [
                .. Enumerable.Range(0, random.Next(1, 3))
                    .Select(_ => First + (ulong)random.Next(Streams + 2)).Distinct(),
            ];
            var position = _log.Grant(streams);
            if (random.Next(8) > 0) _log.Write(position, $"{position.Offset}");
            else if (random.Next(2) == 0) _log.Junk(position, bare: random.Next(2) == 0);
            else if (random.Next(3) == 0) _log.NewEpoch(position);
        }
    }
}
