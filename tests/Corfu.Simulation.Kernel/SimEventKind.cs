namespace Corfu.Simulation.Kernel;

public enum SimEventKind
{
    Continuation = 1,
    Timer = 2,
    Deliver = 3,
    Disk = 4,
    Fault = 5,
    Control = 6,
}
