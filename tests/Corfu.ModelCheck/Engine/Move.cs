namespace Corfu.ModelCheck.Engine;

/// <summary>One way on from a state: a process's call is answered (or a late request arrives), or a process does
/// something by itself.</summary>
internal enum MoveKind
{
    Answer,
    Choice,
    Late,
}

internal readonly record struct Move(MoveKind Kind, int Process, int Index);
