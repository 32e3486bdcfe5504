using System.ComponentModel;

namespace Tango;

/// <summary>Facts about one mutator that the runtime must know. Generated code keeps one static instance per
/// mutator.</summary>
/// <param name="Number">The record number, as in <see cref="MutatorAttribute"/>.</param>
/// <param name="Name">For messages and tools only.</param>
/// <param name="Reads">
/// True if it returns a value or may reject. Its caller then waits for playback, and in a transaction what it
/// reads joins the read set.
/// </param>
// A caller may act on the result, so that the commit must validate it (R16).
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed record MutatorInfo(int Number, string Name, bool Reads);
