using System.Collections.Concurrent;

namespace Craq;

/// <summary>The progress of one caller: for each chain the greatest mark that it has read at and the greatest version
/// that it has written. Its session reads are never older. Thread-safe.</summary>
public sealed class CraqSession
{
    private readonly ConcurrentDictionary<ChainId, ObjectVersion> _marks = new();

    /// <summary>The marks, to carry the session into another process.</summary>
    public IReadOnlyDictionary<ChainId, ObjectVersion> Marks => _marks;

    public ObjectVersion MarkOf(ChainId chain) => _marks.GetValueOrDefault(chain);

    /// <summary>Later session reads of the chain are not older than the version. Invariant: a mark never
    /// falls.</summary>
    public void Observe(ChainId chain, ObjectVersion version)
    {
        if (version.IsNone || MarkOf(chain) >= version) return;
        _marks.AddOrUpdate(chain, static (_, seen) => seen,
            static (_, known, seen) => ObjectVersion.Max(known, seen), version);
    }
}
