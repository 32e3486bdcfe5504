namespace Corfu.ModelCheck.Processes;

public enum LayoutPhase
{
    Latest,
    Prepare,
    Accept,
    Publish,
}
