namespace Corfu.Store;

/// <summary>Which state of the store a read sees.</summary>
public readonly record struct ReadAs
{
    private ReadAs(bool isLocal, long? revision) => (IsLocal, Revision) = (isLocal, revision);

    /// <summary>All that was acknowledged anywhere before the read began. The default.</summary>
    public static ReadAs Linearizable => default;

    /// <summary>The state here, whatever it is: no request for it.</summary>
    public static ReadAs Local => new(true, null);

    internal bool IsLocal { get; }

    internal long? Revision { get; }

    /// <summary>The keys and values as a past revision has them.</summary>
    /// <param name="local">Whether the state here suffices, which may not have come so far.</param>
    public static ReadAs At(long revision, bool local = false) => new(local, revision);
}
