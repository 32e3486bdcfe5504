using Corfu.Client.Layout;

namespace Corfu.Client;

/// <summary>R10: a tail learnt in an epoch that has ended counts up to where the next one began. Above, positions were
/// granted anew, and may hold acknowledged entries.</summary>
internal sealed class TailCap(LayoutClient layout)
{
    public static bool IsOlder(EpochView view, LogPosition position) =>
        position.Epoch > Epoch.None && position.Epoch < view.Epoch;

    public async ValueTask<LogPosition> CapAsync(
        EpochView view, LogPosition tail, CancellationToken cancellationToken)
    {
        if (!IsOlder(view, tail)) return tail;
        var next = await layout.ReadHistoryAsync(view.Projection, tail.Epoch.Next, cancellationToken);
        return LogPosition.Min(tail, (next ?? view.Projection).Start);
    }
}
