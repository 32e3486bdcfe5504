using Craq.Agent;

namespace Corfu.Simulation.Craq;

/// <summary>The agents' options in a run.</summary>
internal static class CraqAgents
{
    /// <summary>The shipped intervals, faster by the plan's pace.</summary>
    public static CraqAgentOptions AgentOptions(this CraqPlan plan)
    {
        var shipped = new CraqAgentOptions();
        var detector = shipped.Detector;
        return shipped with
        {
            Detector = detector with
            {
                Interval = At(detector.Interval),
                DeadAfter = At(detector.DeadAfter),
                SilentAfter = At(detector.SilentAfter),
                AcceptablePause = At(detector.AcceptablePause),
                MinDeviation = At(detector.MinDeviation),
                FirstAnswer = At(detector.FirstAnswer),
                LeaveGrace = At(detector.LeaveGrace),
                SlowFloor = At(detector.SlowFloor),
                SlowAfter = At(detector.SlowAfter),
                OwnStall = At(detector.OwnStall),
            },
            ProbeLimit = At(shipped.ProbeLimit),
            Step = At(shipped.Step),
            UnregisteredAfter = At(shipped.UnregisteredAfter),
            ReplaceAfter = At(shipped.ReplaceAfter),
            RemovalPause = At(shipped.RemovalPause),
            RemovalRefill = At(shipped.RemovalRefill),
            CutAfter = At(shipped.CutAfter),
            CutPause = At(shipped.CutPause),
            Turn = At(shipped.Turn),
            OpenLimit = At(shipped.OpenLimit),
            Retry = At(shipped.Retry),
        };

        TimeSpan At(TimeSpan time) => time * plan.Pace;
    }
}
