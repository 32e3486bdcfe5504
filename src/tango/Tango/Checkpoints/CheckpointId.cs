namespace Tango.Checkpoints;

/// <summary>Names an attempt at a checkpoint, so that its chunks are not taken for those of another.</summary>
/// <param name="Runtime">The incarnation that writes it.</param>
/// <param name="Sequence">That runtime's own count of attempts.</param>
internal readonly record struct CheckpointId(ulong Runtime, long Sequence);
