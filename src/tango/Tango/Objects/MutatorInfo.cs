namespace Tango;

/// <summary>What the runtime must know about one mutator. Generated code keeps one static instance per
/// mutator.</summary>
/// <param name="Number">The record number, as in <see cref="MutatorAttribute"/>.</param>
/// <param name="Name">For messages and tools only.</param>
/// <param name="Reads">
/// True if it returns a value or may reject. Its caller then waits for playback, and in a transaction what it
/// reads joins the read set.
/// </param>
// R16.
public sealed record MutatorInfo(int Number, string Name, bool Reads);
