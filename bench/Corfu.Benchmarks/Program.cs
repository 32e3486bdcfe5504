using Corfu.Benchmarks;

// dotnet run -c Release --project bench/Corfu.Benchmarks -- --filter '*Entry*'
return args switch
{
    [NodeProcess.Name, var parent, var config] => await NodeProcess.RunAsync(parent, config),
    [EchoProcess.Name] => await EchoProcess.RunAsync(),
    [GrpcProcess.Name, var connection] => await GrpcProcess.RunAsync(connection),
    [Drive.Name, .. var rest] => await Drive.RunAsync(rest),
    _ => Suite.Run(args),
};
