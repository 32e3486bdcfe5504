using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>All hosted objects at one position: what readers read and transactions take as their snapshot (R17).
/// Immutable.</summary>
/// <param name="End">Everything below is included, nothing at or above.</param>
/// <param name="Views">By <see cref="HostedObject.Slot"/>.</param>
internal sealed record PublishedViews(LogPosition End, FrozenView[] Views)
{
    public FrozenView Of(HostedObject hosted) =>
        hosted.Slot >= 0 && hosted.Slot < Views.Length ? Views[hosted.Slot] : default;
}
