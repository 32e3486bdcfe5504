namespace Salus.Store.Tests;

/// <summary>The log of a region as three members would make it.</summary>
internal sealed class TestRegion(int number)
{
    public const int BlockSize = 4096;

    public static readonly NodeId Store = new(new Guid(77, 0, 0, new byte[8]));

    private static readonly VolumeId s_volume = new(new Guid(1, 0, 0, new byte[8]));
    private static readonly Signer[] s_signers =
        [.. Enumerable.Range(1, 3).Select(n => new Signer(new Incarnation(new Guid(n, 0, 0, new byte[8]))))];

    private readonly Random _random = new(number);

    public RegionKey Key { get; } = new(s_volume, number);

    public Epoch Generation { get; set; } = Epoch.First;

    /// <summary>All that were made, the newest last.</summary>
    public List<RegionRecord> Records { get; } = [];

    public long LastIndex => Records.Count == 0 ? 0 : Records[^1].Head.Index;

    public static RecordName NameOf(RegionRecord record) => new(record.Head.Generation, record.Head.Index);

    /// <summary>The next record, of a batch with as many blocks.</summary>
    /// <param name="others">Further regions that the batch is of: the head grows with them.</param>
    public RegionRecord Put(int blocks = 1, int others = 0)
    {
        var payload = new byte[blocks * BlockSize];
        _random.NextBytes(payload);
        var batch = LastIndex + 1;
        var header = new BatchHeader
        {
            Volume = s_volume,
            Run = 1,
            Number = batch,
            Driver = s_signers[0].Incarnation,
            Participants =
            [
                .. Enumerable.Range(number, 1 + others)
                    .Select(region => new Participant(region, batch - 1, new Hash128((UInt128)batch))),
            ],
            Leader = number,
            PreviousLeader = null,
            VolumeRoot = new Hash128((UInt128)batch),
        };
        var content = new SubBatch(header, header.SignedBy(s_signers[0]), number, BlockSize,
            [
                .. Enumerable.Range(0, blocks).Select(i =>
                    new BlockWrite(2 * i, TreeHash.OfBlock(payload.AsSpan(i * BlockSize, BlockSize)))),
            ],
            [], payload).Encode();
        return Add(RegionRecordKind.Put, content);
    }

    public RegionRecord Open() => Add(RegionRecordKind.Open, new Opening(1, default).Encode());

    public CommitProof Proof(long batch)
    {
        var name = new BatchName(1, batch, new Hash128((UInt128)batch));
        return new CommitProof(number, name, Sign(Statement.Committed(Key, Generation, name)));
    }

    public (CheckpointName Name, Certificate Certificate) Checkpoint(long file)
    {
        var name = new CheckpointName(file, LastIndex, 1, LastIndex, new Hash128(1), new Hash128(2));
        return (name, Sign(Statement.Checkpoint(Key, Generation, name)));
    }

    private RegionRecord Add(RegionRecordKind kind, byte[] content)
    {
        var previous = Records.Count == 0 ? default : Records[^1].Head.Chain;
        var head = new RecordHead(kind, Key, Generation, LastIndex + 1, previous,
            RegionRecord.DigestOf(kind, content, out _));
        var record = new RegionRecord(head, Sign(head.Logged), content);
        Records.Add(record);
        return record;
    }

    private Certificate Sign(Statement statement) =>
        new(Generation, [.. s_signers.Select(signer => signer.Sign(statement))]);
}
