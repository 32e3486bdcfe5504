namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    // TOCS 2.1: everything accepted before the seal lies below it in the log, so "first flush all ongoing operations"
    // is the seal record's own durability (R4).
    private UnitAnswer Seal(SealRequest request)
    {
        if (request.Epoch == Epoch.None) return Refuse(request, Status.BadRequest);
        if (request.Epoch < _sealedBelow) return Refuse(request, Status.Sealed);
        if (IsOutOfStep(request.Epoch)) return Refuse(request, Status.NotInstalled);
        if (request.Epoch > _sealedBelow)
        {
            if (!Admits(request, 0, SpaceUse.Vital, out var full)) return full;
            var record = new LogRecord(RecordKind.Seal, new LogPosition(0, request.Epoch));
            ApplyEpoch(record, Planted.Is("seal-not-logged") ? default : _store.Append(record));
        }

        return new UnitAnswer(Newest(_epochLsn, _endLsn, _markLsn), new SealResponse(Status.Ok, Epoch, _end, _mark));
    }

    // A reconfigurer that seals for e+1 knows the projection of e, and installs it where it is missing (R13). A wrong
    // number therefore never seals a unit beyond every epoch that will be decided.
    private bool IsOutOfStep(Epoch epoch)
    {
        if (Planted.Is("any-epoch-is-sealed")) return false;
        return epoch.Value - _sealedBelow.Value > 1;
    }

    private bool IsOutOfReach(Epoch epoch)
    {
        if (Planted.Is("any-epoch-is-installed")) return false;
        return epoch.Value - _sealedBelow.Value > MessageLimits.EpochReach;
    }

    // R14: idempotent, from the projection alone. Every answer of the new epoch waits until the install is durable.
    private UnitAnswer Install(InstallRequest request)
    {
        var projection = request.Projection;
        if (projection.Cluster != _options.Cluster) return Refuse(request, Status.BadRequest);
        if (projection.Epoch < _sealedBelow) return Refuse(request, Status.Sealed);
        if (IsOutOfReach(projection.Epoch)) return Refuse(request, Status.BadRequest);
        // R2: a unit that the projection does not name learns the epoch from it and serves nothing.
        var isNamed = _options.Id.IsNone || projection.HasUnit(_options.Id);
        if (projection.Epoch > (isNamed ? _installed : _sealedBelow))
        {
            if (!Admits(request, 0, SpaceUse.Vital, out var full)) return full;
            var record = isNamed
                ? new LogRecord(RecordKind.Install, new LogPosition(projection.Start.Offset, projection.Epoch))
                : new LogRecord(RecordKind.Seal, new LogPosition(0, projection.Epoch));
            ApplyEpoch(record, _store.Append(record));
        }

        if (Planted.Is("install-not-durable")) return new UnitAnswer(0, new AckResponse(Status.Ok, Epoch));
        return Ack(_epochLsn);
    }

    private void ApplyEpoch(in LogRecord record, in RecordPlace place)
    {
        var epoch = record.Position.Epoch;
        if (epoch > _sealedBelow) _sealedBelow = epoch;
        _epochLsn = place.Lsn;
        if (record.Kind != RecordKind.Install) return;
        _installed = epoch;
        _start = record.Position;
        _streams.Freeze(_start);
    }
}
