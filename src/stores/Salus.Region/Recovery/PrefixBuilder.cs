using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Recovery;

/// <summary>Makes the prefix of a region: reads, merges, copies, replays.</summary>
internal sealed class PrefixBuilder
{
    private readonly RecoveryPorts _ports;
    private readonly StoreCalls _calls;
    private readonly RegionKey _key;
    private readonly VolumeState _volume;
    private readonly RegionState _region;
    private readonly StoreReading _reading;
    private readonly LogLine _line;
    private readonly RecordCopies _records;
    private readonly FileCopies _files;

    // A listing for each store, the newest that was heard of it.
    private ImmutableArray<HeardStore> _heard = [];

    // The one that is open; a region has one at a time.
    private IRegionBody? _body;

    // Files that the store lacked when the body was opened.
    private ImmutableArray<long> _missing = [];

    /// <param name="volume">As of the generation that is being recovered.</param>
    public PrefixBuilder(RecoveryPorts ports, RegionKey key, VolumeState volume)
    {
        (_ports, _key, _volume, _region) = (ports, key, volume, volume.Regions[key.Region]);
        _calls = new StoreCalls(ports, key, _region.Current.Number);
        _reading = new StoreReading(ports, _calls, volume, _region);
        _line = LogLine.Of(_region);
        _records = new RecordCopies(ports, _calls, key);
        _files = new FileCopies(ports, _calls, key, _region.Current.Number);
    }

    /// <summary>Ends the generations before, and reads what all stores have.</summary>
    /// <exception cref="IOException">A file of the own store cannot be read: build again.</exception>
    /// <exception cref="MalformedDataException">As before: it is damaged.</exception>
    public async Task<RegionPrefix> BuildAsync(CancellationToken cancellationToken)
    {
        await Sealing.EndAsync(_ports, _calls, _region.Anchor, cancellationToken);
        var opened = await OpenAsync(cancellationToken);
        _heard = await _reading.ReadAsync(heard => MergeOf(opened, heard).IsShort, cancellationToken);
        return await ReplayAsync(opened, cancellationToken);
    }

    /// <summary>Reads stores again, whose members can show more.</summary>
    /// <inheritdoc cref="BuildAsync"/>
    public async Task<RegionPrefix> ExtendAsync(
        ImmutableArray<StoreId> stores, CancellationToken cancellationToken)
    {
        // The own one has copies that were made since.
        foreach (var store in stores.Add(_ports.Store))
        {
            if (await _calls.TryListAsync(store, 1, cancellationToken) is not { } heard) continue;
            _heard = [.. _heard.Where(other => other.Listing.Store != store), heard];
        }

        return await ReplayAsync(await OpenAsync(cancellationToken), cancellationToken);
    }

    /// <summary>Closes the body that was opened last, unless it has been handed over.</summary>
    public async ValueTask CloseAsync()
    {
        if (_body is { } body) await body.DisposeAsync();
        _body = null;
    }

    private MergedLog MergeOf(OpenedBody opened, ImmutableArray<HeardStore> heard) => LogMerge.Of(_key,
        new LogBase(opened.Index, opened.Chain), _line, [.. heard.Select(static store => store.Listing)]);

    // The newest checkpoint on Tango, and no other one: the base of every member is the same (S10).
    private async Task<OpenedBody> OpenAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            await CloseAsync();
            var opened = await _ports.Bodies.OpenAsync(
                _key, _volume.Head.Geometry!, _region.Checkpoints, _region.Newest, cancellationToken);
            _body = opened?.Body;
            _missing = opened?.Body.Missing ?? [_region.Newest.Number];
            // Batches change index pages that are in these files; the region server fills in what snapshots need.
            var copied = false;
            foreach (var file in opened is null ? _missing : await NeededAsync())
            {
                var expected = _region.Checkpoints.FirstOrDefault(checkpoint => checkpoint.Number == file);
                copied |= await _files.TryCopyAsync(_reading.Stores, file, expected, cancellationToken);
            }

            if (opened is not null && !copied) return opened;
            if (!copied) await _ports.PauseAsync(cancellationToken);
        }
    }

    private async ValueTask<ImmutableArray<long>> NeededAsync()
    {
        if (_missing.IsEmpty) return [];
        var newest = await CheckpointFile.OpenAsync(_ports.Files, new RegionFile(_key, _region.Newest.Number));
        return [.. newest.State.Files.Select(static use => (long)use.File).Intersect(_missing)];
    }

    private async Task<RegionPrefix> ReplayAsync(OpenedBody opened, CancellationToken cancellationToken)
    {
        var merged = MergeOf(opened, _heard);
        var lost = await _records.CopyAsync(
            merged.Records.Where(record => !record.Stores.Contains(_ports.Store)), cancellationToken);
        var replay = new LogReplay(
            opened, await HeaderOfLastAsync(merged, opened, cancellationToken), _region.Anchor.Opening?.Run ?? 0);
        foreach (var record in merged.Records)
        {
            if (record.Head.Index <= opened.Index) continue;
            if (lost.Contains(record.Head.Index)) break;
            if (await ReadAsync(record, cancellationToken) is not { } whole) break;
            await replay.AddAsync(whole, cancellationToken);
        }

        replay.Void(_volume.Head.Bar);
        var proof = _reading.ProofOf(_heard);
        // For the next recovery: the stores that had it may be gone by then (S20).
        if (proof is not null) _ports.Log.TryMark(_key, proof, out _);
        return new RegionPrefix(replay, proof, _reading.CountOf(_heard));
    }

    // The region's report tells the volume's root behind its last batch, which a run may begin at (S20). Where a
    // checkpoint has all batches, the header stands below it: the digest in the checkpoint vouches for it.
    private async ValueTask<BatchHeader?> HeaderOfLastAsync(
        MergedLog merged, OpenedBody opened, CancellationToken cancellationToken)
    {
        if (opened.Last.IsNone) return null;
        foreach (var record in merged.Records.Reverse())
        {
            if (record.Head.Index > opened.Index || record.Head.Kind != RegionRecordKind.Put) continue;
            if (await ReadAsync(record, cancellationToken) is not { } whole) continue;
            var header = SubBatch.Decode(whole.Content, out _).Header;
            if (header.Name == opened.Last) return header;
        }

        return null;
    }

    // A record of the own store whose data is damaged comes again from a peer.
    private async ValueTask<RegionRecord?> ReadAsync(MergedRecord record, CancellationToken cancellationToken)
    {
        for (var attempt = 0; attempt < 2; attempt++)
        {
            var whole = await _ports.Log.ReadAsync(_key, record.Name);
            if (whole is not null && whole.Head == record.Head) return whole;
            if (attempt == 0) await _records.CopyAsync([record], cancellationToken);
        }

        return null;
    }
}
