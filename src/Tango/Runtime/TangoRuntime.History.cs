using System.Collections.Immutable;
using Corfu.Protocol;
using Tango.Checkpoints;
using Tango.Playback;

namespace Tango;

public sealed partial class TangoRuntime
{
    // For playback that runs beside the player.
    private readonly PlaybackContext _beside;

    /// <summary>As <see cref="UnitReplay.PlayAsync"/>; ends with the runtime.</summary>
    internal async ValueTask<ImmutableArray<AwaitedDecision>> ReplayAsync(
        IReadOnlyList<HostedUnit> units, LogPosition end, CancellationToken cancellationToken)
    {
        await AttachDirectoryAsync(cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            return await UnitReplay.PlayAsync(units, end, _beside, stop.Token);
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }
}
