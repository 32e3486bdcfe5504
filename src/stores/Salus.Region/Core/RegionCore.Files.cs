using Salus.Region.Body;
using Salus.Region.Recovery;

namespace Salus.Region.Core;

/// <summary>Files of the region: cuts and compactions in the order of the log (S17, S18), and their certificates, which
/// become the region's floor in the log of the cluster (S10).</summary>
internal sealed partial class RegionCore
{
    // A primary that cuts for ever costs all members their disks: less than this waits for a second.
    private const long LeastCut = 16 << 20;

    private static readonly TimeSpan s_cutPause = TimeSpan.FromSeconds(1);

    // The other members count from when they have the record before, and batches wait behind a record that waits.
    private static readonly TimeSpan s_proposalPause = TimeSpan.FromSeconds(1.25);

    // Cuts and compactions in the log that are not carried out, ascending: each waits for the batches below it.
    private readonly Queue<DueFile> _due = new();

    // Signatures of all members over checkpoints that are not published: at the primary alone.
    private readonly Dictionary<(long File, int Member), FileVote> _fileVotes = [];

    // The newest file that a record of the log names. Never falls.
    private long _lastFile;

    // Bytes of batches behind the record of that file, and the time stamp of that record.
    private long _uncut;
    private long _cutAt;

    // The last batch is a marker, and no cut stands behind it: no batch may come in between (S22).
    private bool _isMarkerUncut;

    // The last batch found less space than the margin. Not asked for in each turn: the file system is.
    private bool _isShort;

    // The driver waits for a checkpoint of all that is committed.
    private bool _isCutAsked;

    // The newest checkpoint that the primary has this member's signature of.
    private long _toldFile;
    private bool _isFileCalling;
    private long _fileCallAt;
    private bool _isFilling;
    private long _fillAt;

    private RegionState? Region => Volume?.Regions.GetValueOrDefault(Key.Region) is { } region
        && region.Current.Number == Generation ? region : null;

    private bool HasFileWork => _due.Count > 0 || _lastFile > (Region?.Newest.Number ?? 0)
        || (IsPrimary && (_isMarkerUncut || _isCutAsked || IsCutDue || MustRelease));

    private void RecoverFiles(RecoveredRegion recovered)
    {
        _lastFile = recovered.Body.NewestFile;
        foreach (var record in recovered.Cuts) Due(record.Head, record.Content);
        // The primary before may have died between a marker and its cut; a second cut of one place is harmless.
        var last = recovered.Above.IsEmpty ? recovered.LastHeader : recovered.Above[^1].Batch.Header;
        _isMarkerUncut = last is { IsMarker: true } && recovered.Cuts.IsEmpty;
    }

    // At the primary: places a cut when one is due, a compaction where that is worth while.
    private void Cut()
    {
        if (!IsPrimary || !MayCut || Region is not { } region) return;
        if (_isMarkerUncut && !Planted.Is("snapshot-at-arrival")) TryPlaceFile(region, []);
        // Files are written in turn: the members write at their own speed.
        _isCutAsked &= _lastCommitted.Number > region.Newest.Batch;
        if (_lastFile > region.Newest.Number || IsCutEarly(s_proposalPause) || !(IsCutDue || _isCutAsked)) return;
        var isFilled = region.Current.Members.All(static member => member.IsFilled);
        TryPlaceFile(region, isFilled ? _body.ProposeInputs() : []);
    }

    private void TakeCut(CutRequest request, ReplyTo reply)
    {
        _isCutAsked |= IsPrimary;
        reply.Send(request.Fail(IsPrimary ? Status.Ok : SalusStatus.WrongMember, Generation));
    }

    private bool MayCut =>
        IsAdmitted && IsOpened && !MustFollow && _broken is null && _slots.Count - _appended < MaxOpen;

    // False: a marker waits for its cut, and nothing may come in between.
    private bool TryCutMarker()
    {
        if (!_isMarkerUncut || Planted.Is("snapshot-at-arrival")) return true;
        Cut();
        return !_isMarkerUncut;
    }

    // The log of a store is freed from its front: a region that writes little holds back the others. On a full disk,
    // discarded blocks free their space by the next file.
    private bool IsCutDue => _body.IsCutDue || (_body.Unwritten > 0
        && (_services.Log.Bytes > _services.Options.LogBytes || _isShort));

    private bool IsCutEarly(TimeSpan pause) => _uncut < LeastCut && _services.Behind(-pause) < _cutAt;

    private void TryPlaceFile(RegionState region, ImmutableArray<long> inputs)
    {
        var file = Math.Max(_lastFile, region.Newest.Number) + 1;
        var (kind, content) = inputs.IsEmpty
            ? (RegionRecordKind.Cut, new CutRecord(file).Encode())
            : (RegionRecordKind.Compact, new CompactRecord(inputs, file).Encode());
        var head = new RecordHead(kind, Key, Generation, _lastIndex + 1, _lastChain,
            RegionRecord.DigestOf(kind, content, out _));
        if (TryPlace(head, [], content, null) is not null) Due(head, content);
    }

    // At the other members. Pending: not yet, by this member's own clock or knowledge.
    private (Status Status, LogSlot? Slot) TakeFile(ForwardRequest request)
    {
        var head = request.Head;
        if (Region is not { } region || !IsAdmitted)
        {
            Refresh();
            return (SalusStatus.Pending, null);
        }

        if (FileOf(head.Kind, request.Content) <= Math.Max(_lastFile, region.Newest.Number))
            return (Status.BadRequest, null);
        // A member that copies files still needs the inputs.
        if (head.Kind == RegionRecordKind.Compact && !region.Current.Members.All(static member => member.IsFilled))
        {
            Refresh();
            return (SalusStatus.Pending, null);
        }

        if (!_isMarkerUncut && IsCutEarly(s_cutPause)) return (SalusStatus.Pending, null);
        var slot = TryPlace(head, request.Signatures.AsSpan(), request.Content, null);
        if (slot is not null) Due(head, request.Content);
        return Placed(slot);
    }

    private static long FileOf(RegionRecordKind kind, ReadOnlyMemory<byte> content) =>
        kind == RegionRecordKind.Cut ? CutRecord.Decode(content).File : CompactRecord.Decode(content).Output;

    private void Due(in RecordHead head, ReadOnlyMemory<byte> content)
    {
        var (cut, compact) = head.Kind == RegionRecordKind.Cut
            ? (CutRecord.Decode(content), default(CompactRecord))
            : (null, CompactRecord.Decode(content));
        _due.Enqueue(new DueFile(head.Index, head.Chain, cut, compact));
        (_lastFile, _uncut, _cutAt) = (cut?.File ?? compact!.Output, 0, _services.Now);
        (_isMarkerUncut, _isCutAsked) = (false, false);
        CarryOut(NextBatch);
    }

    private long NextBatch => _batches.Count == 0 ? long.MaxValue : _batches[0].Index;

    private void Counted(PlacedBatch batch)
    {
        _uncut += batch.Batch.Payload.Length;
        _isMarkerUncut = batch.Header.IsMarker;
    }

    // All batches below that index are committed or void: the files below it have their turns, in the order of the log.
    private void CarryOut(long index)
    {
        while (_due.TryPeek(out var due) && due.Index < index)
        {
            _due.Dequeue();
            var written = due.Cut is { } cut
                ? _body.CutAsync(cut, due.Index, due.Chain, _lastCommitted)
                : _body.CompactAsync(due.Compact!, due.Index, due.Chain, _lastCommitted);
            _services.Loops.Start(() => TellWrittenAsync(written));
        }
    }

    private async Task TellWrittenAsync(Task<CheckpointName> written)
    {
        try
        {
            await written;
        }
        catch (OperationCanceledException)
        {
            // The body was closed.
            return;
        }
        catch (DivergedBodyException error)
        {
            Post(() => ValueTask.FromException(error));
            return;
        }

        Wake();
    }

    // Every member signs its files; the primary collects the signatures, and publishes.
    private void CertifyFiles()
    {
        if (Region is not { } region || !IsAdmitted || _isFileCalling || _fileCallAt > _services.Now) return;
        foreach (var name in _body.Written)
        {
            if (name.Number <= region.Newest.Number || (!IsPrimary && name.Number <= _toldFile)) continue;
            if (!TrySign(Statement.Checkpoint(Key, Generation, name), out var own)) return;
            if (!IsPrimary)
            {
                TellPrimary(name, own);
                return;
            }

            _fileVotes[(name.Number, 0)] = new FileVote(name, own);
            if (TryCertify(name) is not { } certificate) return;
            Publish(name, certificate);
            return;
        }
    }

    private void TellPrimary(CheckpointName name, WeakSignature own)
    {
        _isFileCalling = true;
        var request = new CheckpointedRequest(Generation, Key, name, _members.Members[_me], own);
        Call(_generation.Members[0], request, response => Now(() =>
        {
            _isFileCalling = false;
            if (response is { IsOk: true }) _toldFile = name.Number;
            else _fileCallAt = _services.Behind(s_cutPause);
        }));
    }

    private void TakeCheckpointed(CheckpointedRequest request, ReplyTo reply)
    {
        var (name, member) = (request.Checkpoint, _members.IndexOf(request.Member));
        var status = !IsPrimary ? SalusStatus.WrongMember
            : member <= 0 || name.Number > _lastFile
                || !request.Signature.IsOf(request.Member, Statement.Checkpoint(Key, Generation, name))
                ? Status.BadRequest
            : Status.Ok;
        if (status == Status.Ok) _fileVotes[(name.Number, member)] = new FileVote(name, request.Signature);
        reply.Send(request.Fail(status, Generation));
    }

    // Null: a member has not signed, or has written another file.
    private Certificate? TryCertify(CheckpointName name)
    {
        var signatures = new WeakSignature[_members.Members.Length];
        for (var member = 0; member < signatures.Length; member++)
        {
            if (!_fileVotes.TryGetValue((name.Number, member), out var vote)) return null;
            // The same blocks make the same file: memory or disk of one of the two is damaged. A new generation writes
            // it again, from the log.
            if (vote.Name != name) Break(SalusStatus.Diverged);
            signatures[member] = vote.Signature;
        }

        return _broken is null ? new Certificate(Generation, [.. signatures]) : null;
    }

    private void Publish(CheckpointName name, Certificate certificate)
    {
        _isFileCalling = true;
        _services.Loops.Start(async () =>
        {
            try
            {
                // A refusal stands in the region's state: published before, or of a generation that is over.
                await _services.Map.PublishAsync(Key, Generation, name, certificate, _stop.Token);
                await _services.Map.RefreshAsync(Key.Volume, _stop.Token);
            }
            catch (Exception error) when (error is CorfuException or OperationCanceledException)
            {
                // The log cannot be reached: published again.
            }

            Post(() => Now(() =>
            {
                _isFileCalling = false;
                var newest = Region?.Newest.Number ?? 0;
                if (newest < name.Number) _fileCallAt = _services.Behind(s_cutPause);
                foreach (var vote in _fileVotes.Keys.Where(vote => vote.File <= newest).ToArray())
                    _fileVotes.Remove(vote);
            }));
        });
    }

    // A store that had to copy files, and has all of them: compactions may go on, and reads come here too.
    private void Fill()
    {
        if (Region is not { } region || !IsAdmitted || _isFilling || _fillAt > _services.Now) return;
        if (region.Current.Members[_me].IsFilled || !_body.Missing.IsEmpty) return;
        _isFilling = true;
        _services.Loops.Start(async () =>
        {
            try
            {
                await _services.Map.FillAsync(Key, Generation, _members.Members[_me], _stop.Token);
                await _services.Map.RefreshAsync(Key.Volume, _stop.Token);
            }
            catch (Exception error) when (error is CorfuException or OperationCanceledException)
            {
                // The log cannot be reached: said again.
            }

            Post(() => Now(() => (_isFilling, _fillAt) = (false, _services.Behind(s_cutPause))));
        });
    }

    private readonly record struct FileVote(CheckpointName Name, WeakSignature Signature);

    private sealed record DueFile(long Index, Hash128 Chain, CutRecord? Cut, CompactRecord? Compact);
}
