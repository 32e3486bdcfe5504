namespace Salus.Region.Core;

/// <summary>A record that this member has signed, until all members have signed it and for a while behind. Used in the
/// region's turns alone.</summary>
internal sealed class LogSlot(RecordHead head, ReadOnlyMemory<byte> content, int members)
{
    private readonly WeakSignature[] _signatures = new WeakSignature[members];
    private readonly List<Waiter> _waiters = [];

    public RecordHead Head { get; } = head;

    public long Index => Head.Index;

    /// <summary>The chain up to this record.</summary>
    public Hash128 Chain { get; } = head.Chain;

    /// <summary>The batch of the record; null: of another kind.</summary>
    public PlacedBatch? Batch { get; init; }

    /// <summary>The record is durable once the log is durable up to here.</summary>
    public long Lsn { get; private set; }

    /// <summary>Dropped with the record's completion.</summary>
    public ReadOnlyMemory<byte> Content { get; private set; } = content;

    /// <summary>All members have signed.</summary>
    public bool IsSigned { get; private set; }

    /// <summary>In the store's log, together with its certificate.</summary>
    public bool IsAppended { get; private set; }

    public bool IsDurable { get; set; }

    /// <summary>A call to the next member is under way.</summary>
    public bool IsCalling { get; set; }

    /// <summary>No call to the next member before this time stamp.</summary>
    public long CallAt { get; set; }

    /// <summary>Bytes that the fullest member behind this one takes.</summary>
    public long Free { get; private set; } = long.MaxValue;

    /// <summary>Senders of this record that wait for signatures.</summary>
    public List<Waiter> Waiters => _waiters;

    public Certificate Certificate => new(Head.Generation, [.. _signatures]);

    public void Sign(ReadOnlySpan<WeakSignature> before, WeakSignature own)
    {
        before.CopyTo(_signatures);
        _signatures[before.Length] = own;
        IsSigned = before.Length == _signatures.Length - 1;
    }

    /// <summary>The signatures of the members behind this one.</summary>
    public void Complete(ReadOnlySpan<WeakSignature> behind, long free)
    {
        behind.CopyTo(_signatures.AsSpan(_signatures.Length - behind.Length));
        Free = free;
        IsSigned = true;
    }

    public void Appended(long lsn)
    {
        Lsn = lsn;
        IsAppended = true;
        Content = default;
    }

    /// <summary>Signatures of the member at that place and all behind it.</summary>
    public ImmutableArray<WeakSignature> From(int member) => [.. _signatures[member..]];

    public ImmutableArray<WeakSignature> Until(int member) => [.. _signatures[..(member + 1)]];

    internal readonly record struct Waiter(ReplyTo Reply, long Deadline);
}
