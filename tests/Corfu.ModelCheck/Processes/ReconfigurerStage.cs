namespace Corfu.ModelCheck.Processes;

public enum ReconfigurerStage
{
    Idle,
    Look,
    Seal,
    Propose,
    Install,
    CopyLook,
    CopyFill,
    CopyComplete,
    Done,
}
