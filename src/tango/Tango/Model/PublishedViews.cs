using Corfu;

namespace Tango.Model;

/// <summary>All hosted objects at one position: what readers read and transactions take as their snapshot (R17).
/// Immutable.</summary>
/// <param name="End">Everything below is included, nothing at or above.</param>
/// <param name="Views">By <see cref="HostedObject.Slot"/>, in pieces of <see cref="PieceLength"/>: a publication copies
/// the pieces that changed only.</param>
/// <param name="Seen">Null: no tail is known up to which all of it is played.</param>
internal sealed record PublishedViews(LogPosition End, FrozenView[][] Views, SeenTail? Seen)
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

/// <summary>A tail that the log answered, and below which everything of the hosted streams is played. It may lie far
/// above the last entry that was played: nothing of them stands between.</summary>
/// <param name="Tail">With the epoch that answered it: it says nothing about positions of another one (R27).</param>
/// <param name="Cycle">The player's, at whose end that was true.</param>
internal sealed record SeenTail(LogPosition Tail, long Cycle)
{
    /// <summary>Whether the cohort's streams are among them. Ask for it after its versions were read: what joined since
    /// has others.</summary>
    public bool Covers(Cohort cohort) => cohort.JoinedIn < Cycle;
}

/// <summary>An object's view as published: it is not changed any more.</summary>
/// <param name="Owner">Whose view it is: slots are used again.</param>
/// <param name="View">Null: not hosted, or without views.</param>
/// <param name="LastWriteEnd">First position after the object's last write.</param>
internal readonly record struct FrozenView(HostedObject Owner, TangoObject? View, LogPosition LastWriteEnd,
    TangoObjectStoppedException? Stopped)
{
    public TangoObject Require(HostedObject hosted) =>
        Stopped is not null
            ? throw Stopped.Told
            : View ?? throw new TangoNotHostedException(hosted.Name);
}
