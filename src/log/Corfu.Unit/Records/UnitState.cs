using System.Buffers;

namespace Corfu.Unit;

/// <summary>Body of a State record: what a unit knows besides pages and streams.</summary>
internal readonly record struct UnitState(Epoch SealedBelow, Epoch Installed, LogPosition Start, LogPosition Mark,
    LogPosition End)
{
    private const byte Version = 1;

    public LogRecord ToRecord()
    {
        var buffer = new ArrayBufferWriter<byte>(64);
        var w = new WireWriter(buffer);
        w.Byte(Version);
        w.Epoch(SealedBelow);
        w.Epoch(Installed);
        w.Position(Start);
        w.Position(Mark);
        w.Position(End);
        w.Flush();
        return new LogRecord(RecordKind.State, Mark, buffer.WrittenMemory);
    }

    public static UnitState Read(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        var version = r.Byte();
        if (version != Version) throw new MalformedDataException($"State format {version} is unknown.");
        var state = new UnitState(r.Epoch(), r.Epoch(), r.Position(), r.Position(), r.Position());
        r.End();
        return state;
    }
}
