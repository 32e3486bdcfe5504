namespace Corfu.StateMachines;

/// <summary>A machine whose commands and results are values, which MessagePack writes and reads. Bytes that are no
/// command stop every replica, as an exception of <see cref="IStateMachine.Apply"/> does.</summary>
/// <param name="serializer">Has formatters for both types. The same in every process, for ever: the log keeps the
/// bytes.</param>
public abstract class TypedMachine<TCommand, TResult>(MessagePackSerializerOptions serializer) : IStateMachine
{
    /// <summary>Bytes of a command, as <see cref="Replica{TMachine}.ProposeAsync"/> takes them.</summary>
    public static ReadOnlyMemory<byte> Encode(TCommand command, MessagePackSerializerOptions serializer) =>
        MessagePackSerializer.Serialize(command, serializer);

    /// <summary>The result that an outcome brings.</summary>
    /// <exception cref="CommandOutcomeException">The command has no result here.</exception>
    public static TResult Decode(CommandOutcome outcome, MessagePackSerializerOptions serializer) =>
        MessagePackSerializer.Deserialize<TResult>(outcome.Require(), serializer);

    /// <summary>Runs a command; see <see cref="IStateMachine.Apply"/>.</summary>
    protected abstract TResult Apply(TCommand command, in CommandContext context);

    public abstract IMachineSnapshot Capture();

    public abstract ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default);

    ReadOnlyMemory<byte> IStateMachine.Apply(ReadOnlyMemory<byte> command, in CommandContext context) =>
        MessagePackSerializer.Serialize(
            Apply(MessagePackSerializer.Deserialize<TCommand>(command, serializer), context), serializer);
}
