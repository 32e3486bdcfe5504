using Corfu;
using Tango.Playback;

namespace Tango.Model;

/// <summary>All hosted objects at one position: what readers read and transactions take as their snapshot (R17).
/// Immutable.</summary>
/// <param name="End">Everything below is included, nothing at or above.</param>
/// <param name="Views">By <see cref="HostedObject.Slot"/>, in pieces of <see cref="PieceLength"/>: a publication copies
/// the pieces that changed only.</param>
internal sealed record PublishedViews(LogPosition End, FrozenView[][] Views)
{
    public const int PieceLength = 32;

    public FrozenView Of(HostedObject hosted)
    {
        var (piece, index) = Math.DivRem(hosted.Slot, PieceLength);
        if (hosted.Slot >= 0 && piece < Views.Length && Views[piece][index] is var view && view.Owner == hosted)
            return view;
        // A deleted object has left, and its handles hear why for ever.
        return hosted.Stopped is { IsDeletion: true } deleted
            ? new FrozenView(hosted, null, hosted.Versions.LastWriteEnd, deleted)
            : default;
    }
}
