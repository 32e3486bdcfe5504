namespace Corfu.StateMachines;

/// <summary>A deterministic machine: its state and results follow from its commands and their contexts alone, in every
/// process. It reads no clock, draws no random number and depends on no order that differs from process to
/// process.</summary>
/// <remarks>A replica calls <see cref="Apply"/>, <see cref="Capture"/> and queries. Queries run beside each other and
/// beside <see cref="Capture"/>, never beside <see cref="Apply"/>.</remarks>
public interface IStateMachine
{
    /// <summary>Runs a command. A refusal is a result like any other: an exception stops the replica, and every other
    /// replica that plays the command.</summary>
    /// <param name="command">A part of the log's entry. What the machine keeps of it, it copies.</param>
    /// <returns>The result, of 64 MiB at most: a longer one counts as an exception. The machine does not change these
    /// bytes any more.</returns>
    ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context);

    /// <summary>Captures the state between two entries. Later commands do not change what was captured, and
    /// <see cref="IMachineSnapshot.SaveAsync"/> runs beside them.</summary>
    IMachineSnapshot Capture();

    /// <summary>Takes the state that a snapshot saved. Called once, on a new machine. An exception stops the replica,
    /// or ends its opening: no older snapshot is tried.</summary>
    /// <param name="snapshot">All bytes, checked; at its beginning.</param>
    ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default);
}

/// <summary>A captured state. Disposed when it is saved, or needed no more.</summary>
public interface IMachineSnapshot : IDisposable
{
    /// <summary>Writes the state. Asynchronous writes bound the memory; what is written synchronously waits in
    /// memory.</summary>
    ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default);
}

/// <summary>Facts about a command that are the same at every replica.</summary>
/// <param name="Position">The entry's.</param>
/// <param name="Index">The command's, in its entry.</param>
/// <param name="Session">Null: the command has none.</param>
/// <param name="Time">The greatest clock of a writer so far. It never goes back and may leap: for records of what
/// happened when, not for safety.</param>
public readonly record struct CommandContext(LogPosition Position, int Index, long? Session, DateTimeOffset Time);
