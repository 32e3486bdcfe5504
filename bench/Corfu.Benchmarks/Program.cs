using BenchmarkDotNet.Running;
using Corfu.Benchmarks;

// dotnet run -c Release --project bench/Corfu.Benchmarks -- --filter '*Entry*'
BenchmarkSwitcher.FromAssembly(typeof(EntryBenchmarks).Assembly).Run(args);
