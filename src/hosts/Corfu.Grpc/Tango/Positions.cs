using Tango;
using Common = Corfu.Grpc.Protocol.V1;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Positions, as messages have them.</summary>
internal static class Positions
{
    /// <summary>Without the epoch, which readers do not learn alike: a place is the same message for all of
    /// them.</summary>
    public static Common.Position Of(LogPosition position) => new() { Offset = position.Offset };

    /// <param name="field">The request's field, for the error.</param>
    public static LogPosition Of(Common.Position? position, string field) => position switch
    {
        null => throw new RequestException($"{field}: the position is missing."),
        { Offset: < 0 } => throw new RequestException($"{field}: not a position of the log."),
        _ => new LogPosition(position.Offset),
    };
}

/// <summary>Versions of keys, as messages have them.</summary>
internal static class Versions
{
    public static RecordVersion Of(V1.Version version) => version.Index < 0
        ? throw new RequestException("unchanged_since: not a version of this service.")
        : new RecordVersion(Positions.Of(version.Position, "unchanged_since"), version.Index);

    public static V1.Version Of(RecordVersion version) =>
        new() { Position = Positions.Of(version.Position), Index = version.Index };

    /// <summary>The version of a reader that saw everything below a position.</summary>
    public static V1.Version Below(LogPosition end) => new()
    {
        Position = new Common.Position { Offset = end.Offset - 1 },
        Index = int.MaxValue,
    };
}
