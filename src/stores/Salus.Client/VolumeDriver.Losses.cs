namespace Salus;

/// <summary>Regions that lack acknowledged batches while their writer lives (S21).</summary>
internal sealed partial class VolumeDriver
{
    private void NoteLack(RegionLink link, RegionState known)
    {
        lock (_gate)
        {
            var now = _ports.Time.GetTimestamp();
            // Stores that come back are read first: the patience begins when all have been.
            var since = link.Lack is { Away.IsEmpty: true } before ? before.Since : now;
            link.Lack = RegionLack.Of(link.Region, known, _ports.Log.Nodes, link.Committed, since, now);
        }
    }

    // Under the gate. Null: no region lacks anything.
    private RegionLack? OldestLack() => _regions.Select(static link => link.Lack).OfType<RegionLack>()
        .MinBy(static lack => lack.Since);

    /// <summary>Ends the use of a volume that has lost acknowledged batches at all stores of a region. To the regions
    /// that is the death of a writer; the proof of what was acknowledged is on the log before (S20).</summary>
    private async Task EndIfLostAsync()
    {
        if (FindLoss() is null) return;
        await NoteAsync();
        if (FindLoss() is not { } loss) return;
        Lose(VolumeFault.WritesLost, $"{loss.Sentence}, and all its stores were read. Mount the volume again: it waits "
            + "until a store brings them back, or 'corfu volume recover --accept-loss' gives up the tail.");
    }

    private RegionLack? FindLoss()
    {
        lock (_gate)
        {
            if (_phase != Phase.Writing) return null;
            return _regions.Select(static link => link.Lack).OfType<RegionLack>().FirstOrDefault(lack =>
                lack.Away.IsEmpty && _ports.Time.GetElapsedTime(lack.Since, lack.Seen) >= _options.Patience);
        }
    }
}
