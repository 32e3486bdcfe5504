namespace Salus.Region.Tests.Recovery;

/// <summary>The log of a region over its generations, as correct members make it, and what stores have of it.</summary>
internal sealed class TestHistory
{
    public const int BlockSize = 4096;

    /// <summary>Records of the region.</summary>
    public const int Blocks = 64;

    public static readonly RegionKey Key = new(new VolumeId(new Guid(1, 0, 0, new byte[8])), 3);

    private static readonly Signer s_driver = new(new Incarnation(new Guid(99, 0, 0, new byte[8])));

    private readonly Dictionary<StoreId, List<RegionRecord>> _stores = [];
    private readonly List<RegionGeneration> _generations = [];
    private readonly Dictionary<int, Signer> _processes = [];
    private int _lastIncarnation;

    /// <summary>The records that count, the first at index 1.</summary>
    public List<RegionRecord> Log { get; } = [];

    /// <summary>Records of generations that were over, or never admitted.</summary>
    public List<RegionRecord> Dead { get; } = [];

    /// <summary>The newest admitted generation.</summary>
    public RegionGeneration Anchor => _generations.FindLast(static generation => generation.IsAdmitted)!;

    /// <summary>Records up to here were in all stores of their generation.</summary>
    public long Acknowledged { get; private set; }

    public IReadOnlyDictionary<StoreId, List<RegionRecord>> Stores => _stores;

    public static StoreId StoreOf(int number) => new(new Guid(1000 + number, 0, 0, new byte[8]));

    /// <summary>The region in its newest generation.</summary>
    public RegionState Current => new(_generations[^1], [.. _generations[..^1]], [], null);

    /// <summary>The region with one more generation, which is being recovered.</summary>
    public RegionState Recovering(params int[] stores) =>
        new(Begin(stores), [.. _generations], [], null);

    public RegionGeneration Begin(params int[] stores) => new(
        _generations.Count == 0 ? Epoch.First : _generations[^1].Number.Next,
        [.. stores.Select(store => new RegionMember(StoreOf(store), ProcessOf(store).Incarnation, IsFilled: true))],
        null, false);

    /// <summary>The first generation, which needs no opening.</summary>
    public void Create(params int[] stores)
    {
        _generations.Add(Begin(stores) with
        {
            Opening = new RegionOpening(0, default, 0, default, stores.Length),
            IsAdmitted = true,
        });
        foreach (var store in stores) _stores[StoreOf(store)] = [];
    }

    /// <summary>The anchor's next record, in as many of its stores.</summary>
    public RegionRecord Append(int copies)
    {
        var record = Make(Anchor, Log, RegionRecordKind.Put, PutContent(Log, Anchor.Number));
        Log.Add(record);
        foreach (var member in Anchor.Members.Take(copies)) _stores[member.Store].Add(record);
        if (copies == Anchor.Members.Length) Acknowledged = Log.Count;
        return record;
    }

    /// <summary>A generation that has read the log up to somewhere, opens there and is admitted or not.</summary>
    public void Replace(long prefix, bool isAdmitted, params int[] stores)
    {
        var next = Begin(stores);
        List<RegionRecord> log = [.. Log.Take((int)prefix)];
        var open = Make(next, log, RegionRecordKind.Open, new Opening(1, new BatchName(1, prefix, default)).Encode());
        var opening = new RegionOpening(
            open.Head.Index, open.Head.Chain, 1, new BatchName(1, prefix, default), stores.Length);
        _generations.Add(next with { Opening = opening, IsAdmitted = isAdmitted });
        foreach (var member in next.Members)
        {
            if (!_stores.TryGetValue(member.Store, out var there)) _stores[member.Store] = there = [];
            there.AddRange(log.Where(record => !there.Contains(record)));
            there.Add(open);
        }

        if (!isAdmitted)
        {
            Dead.Add(open);
            return;
        }

        Dead.AddRange(Log.Skip((int)prefix));
        Log.RemoveRange((int)prefix, Log.Count - (int)prefix);
        Log.Add(open);
        Acknowledged = Log.Count;
    }

    /// <summary>A record as its generation's members would certify it.</summary>
    public static RegionRecord Make(
        RegionGeneration by, IReadOnlyList<RegionRecord> below, RegionRecordKind kind, byte[] content)
    {
        var head = new RecordHead(kind, Key, by.Number, below.Count + 1,
            below.Count == 0 ? default : below[^1].Head.Chain, RegionRecord.DigestOf(kind, content, out _));
        return new RegionRecord(head, Certify(by, head.Logged), content);
    }

    public static Certificate Certify(RegionGeneration by, Statement statement) =>
        new(by.Number, [.. by.Members.Select(member => new Signer(member.Incarnation).Sign(statement))]);

    public static ListedRecord List(RegionRecord record) => new(record.Head, record.Certificate, record.Content.Length);

    /// <summary>The next cut, in all stores of the anchor.</summary>
    public RegionRecord Cut(long file)
    {
        var record = Make(Anchor, Log, RegionRecordKind.Cut, new CutRecord(file).Encode());
        Log.Add(record);
        foreach (var member in Anchor.Members) _stores[member.Store].Add(record);
        return record;
    }

    public static SubBatch BatchOf(RegionRecord record) => SubBatch.Decode(record.Content, out _);

    private static byte[] PutContent(List<RegionRecord> below, Epoch generation)
    {
        var number = below.Count + 1;
        var payload = new byte[BlockSize];
        (payload[0], payload[1], payload[2]) = ((byte)number, (byte)generation.Value, 1);
        var write = new BlockWrite(number % Blocks, TreeHash.OfBlock(payload));
        var tree = new RegionTree(VolumeGeometry.PagesFor(Blocks));
        var before = 0L;
        foreach (var batch in below.Where(static record => record.Head.Kind == RegionRecordKind.Put).Select(BatchOf))
        {
            tree.Apply(batch.Writes.AsSpan(), batch.Zeros.AsSpan());
            before = batch.Header.Number;
        }

        tree.Apply([write], []);
        var header = new BatchHeader
        {
            Volume = Key.Volume,
            Run = 1,
            Number = number,
            Driver = s_driver.Incarnation,
            Participants = [new Participant(Key.Region, before, tree.Root)],
            Leader = Key.Region,
            PreviousLeader = null,
            VolumeRoot = tree.Root,
        };
        return new SubBatch(header, header.SignedBy(s_driver), Key.Region, BlockSize, [write], [], payload).Encode();
    }

    /// <summary>The process that serves the store.</summary>
    public Signer ProcessOf(int store) =>
        _processes.TryGetValue(store, out var process) ? process : Restart(store);

    /// <summary>Another process serves the store from now on.</summary>
    public Signer Restart(int store) =>
        _processes[store] = new Signer(new Incarnation(new Guid(++_lastIncarnation, 1, 0, new byte[8])));
}
