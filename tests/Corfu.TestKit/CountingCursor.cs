namespace Corfu.TestKit;

/// <summary>Calls back at each check of the log.</summary>
public sealed class CountingCursor(IStreamCursor inner, Action onSync) : CursorWrapper(inner)
{
    public override ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        onSync();
        return base.SyncAsync(consistency, cancellationToken);
    }
}
