using Tango.Ledgers.Directory;

namespace Tango.Ledgers.Reading;

/// <summary>Releases the entries of deleted ledgers, in the background. What is not released here goes with the prefix
/// of the log.</summary>
internal sealed class LedgerRemains(ICorfuLog log, LoopContext loops)
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private Task _last = Task.CompletedTask;

    public void Trim(LedgerRow row)
    {
        lock (_gate)
        {
            var before = _last;
            _last = loops.RunAsync(async () =>
            {
                await before;
                await TrimAsync(row);
            });
        }
    }

    public Task EndAsync()
    {
        lock (_gate) return _last;
    }

    private async Task TrimAsync(LedgerRow row)
    {
        if (row.Spine is not { } offset) return;
        try
        {
            var spines = new SpineReader(log, row.Key);
            var root = new LogPosition(offset);
            await foreach (var position in spines.ListAsync(
                await spines.ReadAsync(root, CancellationToken.None), CancellationToken.None))
                await log.TrimAsync(position);
            await log.TrimAsync(root);
        }
        catch (Exception)
        {
            // Trimmed already, or the log cannot be reached, or is disposed. A failure here would end all later trims.
        }
    }
}
