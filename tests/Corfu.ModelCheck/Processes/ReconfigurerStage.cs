namespace Corfu.ModelCheck.Processes;

public enum ReconfigurerStage
{
    Idle,
    Look,
    Seal,
    Propose,
    Install,
    CopyLook,
    CopyHead,
    CopyFill,
    CopyComplete,
    Done,
}
