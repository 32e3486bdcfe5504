namespace Corfu.ModelCheck.Engine;

/// <summary>A move from a state: a process's call is answered (or a late request arrives), or a process acts by
/// itself.</summary>
internal enum MoveKind
{
    Answer,
    Choice,
    Late,
}

internal readonly record struct Move(MoveKind Kind, int Process, int Index);
