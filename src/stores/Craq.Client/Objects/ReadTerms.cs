namespace Craq;

/// <summary>The promise that a read asks for. The default is the one of the handle that reads.</summary>
public readonly record struct ReadTerms
{
    private readonly bool _isGiven;

    private ReadTerms(ObjectReadMode mode, CraqSession? session = null, int maxAhead = 0, int maxAge = 0)
    {
        _isGiven = true;
        Mode = mode;
        InSession = session;
        MaxAhead = maxAhead;
        MaxAge = maxAge;
    }

    /// <summary>Linearizable for each object.</summary>
    public static ReadTerms Strong { get; } = new(ObjectReadMode.Strong);

    /// <summary>The newest version that is durable at the replica which answers.</summary>
    public static ReadTerms Eventual { get; } = new(ObjectReadMode.Eventual);

    public ObjectReadMode Mode { get; }

    internal CraqSession? InSession { get; }

    internal int MaxAhead { get; }

    internal int MaxAge { get; }

    /// <summary>Committed versions, never older than what the session has read or written.</summary>
    public static ReadTerms Session(CraqSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return new ReadTerms(ObjectReadMode.Session, session);
    }

    /// <summary>At most <paramref name="maxAhead"/> uncommitted versions ahead, and neither older nor uncommitted for
    /// longer than <paramref name="maxAge"/>; <see cref="TimeSpan.Zero"/>: any age.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A bound is negative, or an age is above 24 days.</exception>
    public static ReadTerms Bounded(int maxAhead, TimeSpan maxAge = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxAhead);
        ArgumentOutOfRangeException.ThrowIfLessThan(maxAge, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(maxAge.TotalMilliseconds, int.MaxValue);
        return new ReadTerms(ObjectReadMode.Bounded, null, maxAhead, (int)Math.Ceiling(maxAge.TotalMilliseconds));
    }

    internal ReadTerms Or(in ReadTerms standard) => _isGiven ? this : standard;
}
