namespace Salus;

internal sealed partial class VolumeDriver
{
    // Guarded by _gate: markers whose snapshots are not on the log yet.
    private readonly List<Batch> _markers = [];

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
