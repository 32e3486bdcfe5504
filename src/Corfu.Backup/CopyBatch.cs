using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>The log from <see cref="From"/> to <see cref="To"/> (exclusive), every position decided, in order and
/// without a gap.</summary>
public sealed record CopyBatch(LogPosition From, LogPosition To, ImmutableArray<CopiedPage> Pages)
{
    /// <summary>What the payloads weigh.</summary>
    public long Bytes
    {
        get
        {
            long bytes = 0;
            foreach (var page in Pages) bytes += page.Entry?.Payload.Length ?? 0;
            return bytes;
        }
    }
}
