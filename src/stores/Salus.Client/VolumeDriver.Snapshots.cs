namespace Salus;

internal sealed partial class VolumeDriver
{
    // Guarded by _gate: markers whose snapshots are not on the log yet.
    private readonly List<Batch> _markers = [];

    // Guarded by _gate: wanted snapshots that are being taken.
    private readonly HashSet<string> _taking = [];

    /// <summary>Takes a snapshot: a marker in which all regions take part, behind everything that was placed
    /// before.</summary>
    /// <returns>The snapshot is recorded; regions write their checkpoints of it in the background.</returns>
    /// <exception cref="VolumeException">The marker was not committed in time, or the log refuses the
    /// snapshot.</exception>
    public async Task SnapshotAsync(string name, CancellationToken cancellationToken)
    {
        while (true)
        {
            Batch marker;
            lock (_gate)
            {
                ThrowIfOver();
                marker = new Batch(isMarker: true, [.. Enumerable.Range(0, _regions.Length)]);
                _queue.Place(marker);
                _markers.Add(marker);
            }

            Pump();
            try
            {
                // A marker that a new run has voided is sent again (S22).
                if (!await WithinPatienceAsync(marker.Ended).WaitOrCancelAsync(cancellationToken)) continue;
                if (await RecordAsync(name, marker.Header!, cancellationToken) is { } refusal)
                    throw new VolumeException(VolumeFault.Unavailable, $"The snapshot was not taken: {refusal}.");
                return;
            }
            finally
            {
                lock (_gate) _markers.Remove(marker);
            }
        }
    }

    // Snapshots that an operator wants while this process has the volume.
    private void TakeWanted()
    {
        foreach (var snapshot in _ports.Log.State.Head.Snapshots)
        {
            if (snapshot.State != SnapshotState.Wanted) continue;
            lock (_gate)
            {
                if (_phase != Phase.Writing || _isClosing || !_taking.Add(snapshot.Name)) continue;
            }

            _ports.Loops.Start(() => TakeAsync(snapshot.Name));
        }
    }

    private async Task TakeAsync(string name)
    {
        try
        {
            await SnapshotAsync(name, _stop.Token);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // While it is wanted, the next tick tries again.
            SalusClientLog.NotTaken(_ports.Logger, Volume, name, e.Message);
        }
        finally
        {
            lock (_gate) _taking.Remove(name);
        }
    }

    private async Task<string?> RecordAsync(string name, BatchHeader marker, CancellationToken cancellationToken)
    {
        CommitProof? proof;
        lock (_gate) proof = _proof;
        return proof is null || proof.Batch.Run != marker.Run
            ? "the run ended before the snapshot was recorded: take it again"
            : await _ports.Log.RecordSnapshotAsync(
                marker.Run, name, marker.Name, marker.VolumeRoot, proof, cancellationToken);
    }
}
