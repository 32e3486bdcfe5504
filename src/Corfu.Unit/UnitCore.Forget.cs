using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class UnitCore
{
    /// <summary>
    /// TOCS 2.6: what was migrated to other units gives its space back here. That a page may become unwritten again breaks no promise: the projection of this
    /// epoch has the position elsewhere, decided, so nobody asks this unit for it; and should it join that chain once more, it gets the same value (R15).
    /// </summary>
    private UnitAnswer Forget(ForgetRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        // Above the start entries are still being written, and the chains of the active segment may change with the next one.
        if (request.Until > _start) return Refuse(request, Status.BadRequest, 0);
        var lsn = 0L;
        var held = false;
        for (var offset = Math.Max(request.From.Offset, _mark.Offset); offset < request.Until.Offset; offset++)
        {
            if (!request.Residues.Contains((int)(offset % request.Modulus))) continue;
            var slot = _store.Find(new LogPosition(offset));
            lsn = Math.Max(lsn, slot.Lsn);
            held |= slot.State != PageState.Unwritten;
        }

        if (held)
        {
            var body = new ArrayBufferWriter<byte>(64);
            var w = new WireWriter(body);
            request.WriteBody(ref w);
            w.Flush();
            if (!Admits(request, body.WrittenCount, SpaceUse.Trims, out var full)) return full;
            var place = Append(new LogRecord(RecordKind.Forget, request.From, body.WrittenMemory));
            ApplyForget(request, place);
            lsn = place.Lsn;
        }

        return new UnitAnswer(Math.Max(lsn, _epochLsn), new AckResponse(Status.Ok, Epoch));
    }

    private void ReplayForget(in LogRecord record, in RecordPlace place)
    {
        var r = new WireReader(record.Body);
        ApplyForget(ForgetRequest.Read(default, ref r), place);
        r.End();
    }

    private void ApplyForget(ForgetRequest request, in RecordPlace place)
    {
        for (var offset = Math.Max(request.From.Offset, _mark.Offset); offset < request.Until.Offset; offset++)
        {
            var position = new LogPosition(offset);
            if (!request.Names(position)) continue;
            var slot = _store.Find(position);
            if (slot.State == PageState.Unwritten || IsReflected(slot, place)) continue;
            // Of what was trimmed only the tombstone is left.
            if (slot.State != PageState.Trimmed) _store.Dead(slot.Address, slot.Length, wholePage: true);
            else if (slot.HeaderLength > 0) _store.Dead(slot.Address, slot.HeaderLength, wholePage: false);
            // R4: its number remains, so that "unwritten" is not said before that is durable.
            _store.Set(position, new PageSlot(PageState.Unwritten, 0, 0, 0, default, place.Lsn));
            _corrupt.Remove(position);
            _lostHeaders.Remove(position);
        }

        _pageLsn = place.Lsn;
    }
}
