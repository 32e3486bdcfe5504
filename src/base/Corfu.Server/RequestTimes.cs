namespace Corfu.Server;

/// <summary>Times of requests by role, opcode and status. The attributes of a combination are made once: a request
/// costs no allocation.</summary>
internal static class RequestTimes
{
    private static readonly KeyValuePair<string, object?>[] Roles = [.. NamesOf<NodeRole>("corfu.role")];
    private static readonly KeyValuePair<string, object?>[] Opcodes = [.. NamesOf<Opcode>("corfu.opcode")];
    private static readonly KeyValuePair<string, object?>[] Statuses = [.. NamesOf<Status>("corfu.status")];

    public static void Record(TimeSpan took, NodeRole role, Opcode opcode, Status status) =>
        ServerTelemetry.RequestTime.Record(
            took.TotalSeconds, Roles[(byte)role], Opcodes[(byte)opcode], Statuses[(byte)status]);

    public static string NameOf(Opcode opcode) => (string)Opcodes[(byte)opcode].Value!;

    // Numbers of other systems' roles share a name: they are theirs to give.
    private static IEnumerable<KeyValuePair<string, object?>> NamesOf<T>(string attribute)
        where T : struct, Enum =>
        Enumerable.Range(0, 256).Select(number => (T)Enum.ToObject(typeof(T), number))
            .Select(value => attribute.With(Enum.IsDefined(value) ? value.ToString() : BoundedValues.Other));
}
