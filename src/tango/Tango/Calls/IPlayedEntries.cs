using Corfu;

namespace Tango.Calls;

/// <summary>The playback that shows a caller's record to readers: the only port from calls to playback, which stands
/// above them.</summary>
internal interface IPlayedEntries
{
    /// <summary>Completes when the entry that ends at <paramref name="end"/>, of a stream that is hosted here, is
    /// applied and published.</summary>
    ValueTask PlayToAsync(LogPosition end, CancellationToken cancellationToken);
}
