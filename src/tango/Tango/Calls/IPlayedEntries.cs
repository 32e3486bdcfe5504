using System.Collections.Immutable;
using Corfu;

namespace Tango.Calls;

/// <summary>The playback that shows a caller's record to readers: the only port from calls to playback, which stands
/// above them.</summary>
internal interface IPlayedEntries
{
    /// <summary>Completes when the entry that ends at <paramref name="end"/>, of a stream that is hosted here, is
    /// applied and published.</summary>
    /// <param name="placed">The entry, as its append returned it; null: the append did not tell.</param>
    ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken);

    /// <summary>The streams that are played now, for an append. Any thread.</summary>
    ImmutableArray<StreamId> Followed { get; }
}
