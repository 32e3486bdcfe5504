namespace Corfu.ModelCheck.Processes;

public enum ClientStage
{
    Token,
    AskStreams,
    LoadStreams,
    Write,
    ResolveLook,
    ResolveFill,
    ResolveComplete,
    ReadTail,
    AskTail,
    LookAtHead,
    FillHole,
    CompleteHole,
    Check,
    Refresh,
    Bootstrap,
    Install,
    Done,
}
