namespace Salus.Region.Core;

/// <summary>A batch that the region has in its log and that is not known committed. Used in the region's turns
/// alone.</summary>
internal sealed class PlacedBatch(long index, SubBatch batch, int members)
{
    private readonly WeakSignature[] _prepared = new WeakSignature[members];
    private readonly Dictionary<int, RegionVote> _votes = [];

    public long Index { get; } = index;

    public SubBatch Batch { get; } = batch;

    public BatchHeader Header => Batch.Header;

    public BatchName Name { get; } = batch.Header.Name;

    public long Number => Name.Number;

    /// <summary>Record and certificate are durable in the own store.</summary>
    public bool IsDurable { get; set; }

    /// <summary>This member has signed that the batch is prepared (S3).</summary>
    public bool HasPrepared { get; private set; }

    /// <summary>The primary has this member's signature.</summary>
    public bool IsToldPrepared { get; set; }

    /// <summary>All members have signed that the batch is prepared: at the primary alone.</summary>
    public Certificate? Vote { get; set; }

    /// <summary>A call to the primary, or to the leader, is under way.</summary>
    public bool IsCalling { get; set; }

    /// <summary>No such call before this time stamp.</summary>
    public long CallAt { get; set; }

    /// <summary>Drivers' requests that wait for the outcome.</summary>
    public List<LogSlot.Waiter> Waiters { get; } = [];

    /// <summary>At the leader: the participants' votes.</summary>
    public IReadOnlyCollection<RegionVote> Votes => _votes.Values;

    public WeakSignature Prepared(int member) => _prepared[member];

    public void Prepare(int member, WeakSignature signature, bool isOwn)
    {
        _prepared[member] = signature;
        HasPrepared |= isOwn;
    }

    /// <summary>Null: a member has not prepared the batch.</summary>
    public Certificate? TryCertify(Epoch generation)
    {
        var missing = _prepared.Count(static signature => signature == default);
        var allowed = Planted.Is("two-of-three") && _prepared.Length > 1 ? 1 : 0;
        return missing <= allowed ? new Certificate(generation, [.. _prepared]) : null;
    }

    public void Take(RegionVote vote) => _votes[vote.Region] = vote;

    public RegionVote? VoteOf(int region) => _votes.GetValueOrDefault(region);
}
