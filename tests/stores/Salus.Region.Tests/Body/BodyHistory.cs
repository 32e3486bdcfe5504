using Salus.Region.Body;

namespace Salus.Region.Tests.Body;

internal enum EntryFate
{
    /// <summary>Accepted, and neither committed nor void.</summary>
    Open,
    Applied,
    Void,
}

/// <summary>A record of the region's log.</summary>
internal sealed record LogEntry(long Index, SubBatch? Batch, CutRecord? Cut, CompactRecord? Compact)
{
    public EntryFate Fate { get; set; }

    /// <summary>The last committed batch below, of a cut that was applied.</summary>
    public BatchName Last { get; set; }
}

/// <summary>The log of a region with a plain model of its blocks: what was committed, now and at every checkpoint.
/// Plays the driver, the primary and the log of the cluster.</summary>
internal sealed class BodyHistory(int seed)
{
    public const int BlockSize = VolumeGeometry.MinBlockSize;

    /// <summary>Two pages and a half.</summary>
    public const int Blocks = 640;

    private static readonly VolumeId s_volume = new(new Guid(1, 2, 3, new byte[8]));
    private static readonly Signer s_driver = new(new Incarnation(new Guid(9, 0, 0, new byte[8])));

    private readonly Random _random = new(seed);
    private readonly RegionTree _tree = new(VolumeGeometry.PagesFor(Blocks));
    private readonly byte[]?[] _blocks = new byte[]?[Blocks];
    private readonly Dictionary<long, byte[]?[]> _checkpoints = [];
    private readonly HashSet<long> _snapshots = [];
    private long _batches;
    private long _run = 1;
    private BatchName _last;

    public static VolumeGeometry Geometry { get; } =
        VolumeGeometry.Create((long)Blocks * BlockSize, BlockSize, 1024, copies: 2);

    public static RegionKey Key { get; } = new(s_volume, 0);

    public List<LogEntry> Log { get; } = [];

    public List<BodyMember> Members { get; } = [];

    /// <summary>The checkpoints that the log of the cluster keeps, ascending.</summary>
    public List<CheckpointName> Kept { get; private set; } = [];

    public byte[]?[] Committed => _blocks;

    public long Newest { get; private set; }

    public static Hash128 ChainOf(long index) => new((UInt128)(1000 + index));

    public static RegionTree TreeOf(byte[]?[] blocks)
    {
        var tree = new RegionTree(VolumeGeometry.PagesFor(Blocks));
        tree.Apply(
            [
                .. blocks.Index().Where(block => block.Item is not null)
                    .Select(block => new BlockWrite(block.Index, TreeHash.OfBlock(block.Item))),
            ],
            []);
        return tree;
    }

    public byte[]?[] At(long checkpoint) => _checkpoints[checkpoint];

    /// <summary>The next batch: some blocks, some ranges that become empty.</summary>
    public async Task PutAsync(IEnumerable<int> blocks, params ZeroRange[] zeros)
    {
        int[] written = [.. blocks.Where(block => !zeros.Any(z => block >= z.First && block < z.End)).Order()];
        var payload = new byte[written.Length * BlockSize];
        _random.NextBytes(payload);
        ImmutableArray<BlockWrite> writes =
        [
            .. written.Select((block, i) =>
                new BlockWrite(block, TreeHash.OfBlock(payload.AsSpan(i * BlockSize, BlockSize)))),
        ];
        _tree.Apply(writes.AsSpan(), zeros);
        var header = new BatchHeader
        {
            Volume = s_volume,
            Run = _run,
            Number = ++_batches,
            Driver = s_driver.Incarnation,
            Participants = [new Participant(0, _batches - 1, _tree.Root)],
            Leader = 0,
            PreviousLeader = null,
            VolumeRoot = _tree.Root,
        };
        var batch = new SubBatch(header, header.SignedBy(s_driver), 0, BlockSize, writes, [.. zeros], payload);
        var entry = new LogEntry(Log.Count + 1, batch, null, null);
        Log.Add(entry);
        foreach (var member in Members) await member.AcceptAsync(entry);
    }

    public void Cut() => Log.Add(new LogEntry(Log.Count + 1, null, new CutRecord(++Newest), null));

    public void Compact(params ImmutableArray<long> inputs) =>
        Log.Add(new LogEntry(Log.Count + 1, null, null, new CompactRecord(inputs, ++Newest)));

    /// <summary>The next records come into force, in their turns.</summary>
    public void Commit(int count = int.MaxValue)
    {
        foreach (var entry in Log.Where(entry => entry.Fate == EntryFate.Open).Take(count).ToArray())
        {
            if (entry.Batch is { } batch)
            {
                _tree.Settle();
                Set(batch);
                _last = batch.Header.Name;
            }

            Apply(entry);
        }
    }

    /// <summary>A new run voids all batches that are not committed; cuts stay.</summary>
    public void Void()
    {
        LogEntry[] open = [.. Log.Where(entry => entry.Fate == EntryFate.Open)];
        foreach (var entry in open.Reverse().Where(entry => entry.Batch is not null))
        {
            entry.Fate = EntryFate.Void;
            _tree.Undo();
            foreach (var member in Members) member.Body.Undo();
        }

        foreach (var entry in open.Where(entry => entry.Batch is null)) Apply(entry);
        _run++;
    }

    /// <summary>Records a checkpoint that all members have, and asserts that their files are equal (S17).</summary>
    public async Task PublishAsync()
    {
        var newest = Kept.LastOrDefault().Number;
        foreach (var file in Members[0].Written.Keys.Where(file => file > newest).Order().ToArray())
        {
            if (!Members.All(member => member.Written.TryGetValue(file, out var done) && done.IsCompletedSuccessfully))
                break;
            CheckpointName[] names =
                [.. await Task.WhenAll(Members.Select(member => member.Written[file]))];
            Assert.Single(names.Distinct());
            var bytes = Members.Select(member => member.Files.Find(new(Key, file))).ToArray();
            Assert.All(bytes, other => Assert.True(other.AsSpan().SequenceEqual(bytes[0])));
            Assert.Equal(TreeOf(At(file)).Root, names[0].Root);
            Kept.Add(names[0]);
        }
    }

    public void Snapshot()
    {
        if (Kept.Count > 0) _snapshots.Add(Kept[^1].Number);
    }

    /// <summary>The stable point reaches the newest checkpoint: what no snapshot needs goes (S19).</summary>
    public void Trim() =>
        Kept = [.. Kept.Where(checkpoint => checkpoint == Kept[^1] || _snapshots.Contains(checkpoint.Number))];

    /// <summary>Goes back to what was kept at some moment.</summary>
    public void Keep(ImmutableArray<CheckpointName> kept) => Kept = [.. kept];

    public async Task CheckAsync(BodyMember member)
    {
        await member.CheckAsync(_blocks);
        Assert.Equal(_tree.Root, member.Body.Root);
        foreach (var checkpoint in Kept) await member.CheckAsync(At(checkpoint.Number), checkpoint.Number);
    }

    private void Apply(LogEntry entry)
    {
        entry.Fate = EntryFate.Applied;
        entry.Last = _last;
        if (entry.Cut is { } cut) _checkpoints[cut.File] = [.. _blocks];
        if (entry.Compact is { } compact) _checkpoints[compact.Output] = [.. _blocks];
        foreach (var member in Members) member.Apply(entry);
    }

    private void Set(SubBatch batch)
    {
        foreach (var zero in batch.Zeros) _blocks.AsSpan(zero.First, zero.Count).Clear();
        for (var i = 0; i < batch.Writes.Length; i++) _blocks[batch.Writes[i].Block] = batch.DataOf(i).ToArray();
    }
}
